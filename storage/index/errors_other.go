//go:build !cgo

package index

// Without cgo the driver is a stub that cannot open a database, so none of its errors exist.

func isConstraint(error) bool { return false }

func isDatabase(error) bool { return false }

// IsFull reports that the device had no room for the database.
func IsFull(error) bool { return false }
