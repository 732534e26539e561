// Package storage keeps recorded evidence: segment files for frames and a SQLite index for everything else.
package storage
