//go:build cgo

package index

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// isConstraint reports a row that contradicts the schema, which only that row suffers from.
func isConstraint(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrConstraint
}

// isDatabase reports an error that SQLite itself returned.
func isDatabase(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e)
}

// IsFull reports that the device had no room for the database.
func IsFull(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrFull
}
