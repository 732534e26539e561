// Package storage keeps recorded evidence in one instance root: segment files for frames, a SQLite index for
// everything else, and derived artifacts beside them, all inside one disk budget.
//
// Open takes a root that the caller holds (see package instance), recovers what an earlier writer left and
// returns a Store, which implements the ports of core/record. FORMAT.md describes the files.
package storage
