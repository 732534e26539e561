package index

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// view runs fn on one consistent state of the database.
func (x *Index) view(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := x.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn(tx)
}

// found turns "no rows" into ok = false.
func found[T any](v T, err error) (T, bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	return v, err == nil, err
}

// list runs a query outside a transaction and collects its rows.
func list[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

// alphabet is Crockford's base32 in lower case, as in core identifiers.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// packID keeps the 60 random bits of an identifier, which makes its index a third of the text's size.
func packID(text string) int64 {
	var packed int64
	for _, c := range []byte(text[strings.IndexByte(text, '_')+1:]) {
		packed = packed<<5 | int64(max(0, strings.IndexByte(alphabet, c)))
	}
	return packed
}

func unpackID(prefix string, packed int64) string {
	text := []byte(prefix + "_000000000000")
	for i := len(text) - 1; i > len(prefix); i-- {
		text[i] = alphabet[packed&31]
		packed >>= 5
	}
	return string(text)
}
