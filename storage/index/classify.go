package index

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"

	"github.com/krometrail/krometrail/storage/disk"
)

// Format is what an instance root's database is, judged without opening it as one.
type Format int

// The formats.
const (
	// Absent: there is no database, or an empty file that was never written.
	Absent Format = iota
	// Current: the header names our application and the current version.
	Current
	// Other: unversioned, older, newer, foreign or damaged.
	Other
)

// Positions in the first page of an SQLite database.
const (
	sqliteMagic       = "SQLite format 3\x00"
	headerLen         = 100
	userVersionAt     = 60
	applicationIDAt   = 68
	sqliteWriteFormat = 18
)

// Classify reads the header of the database and changes nothing.
func Classify(dir disk.FS) (Format, error) {
	size, err := dir.Size(Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && size == 0 {
		return withoutDatabase(dir)
	}
	if err != nil {
		return Other, err
	}
	f, err := dir.Open(Name)
	if err != nil {
		return Other, err
	}
	header := make([]byte, headerLen)
	_, err = f.ReadAt(header, 0)
	_ = f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return Other, err
	}
	return classifyHeader(header), nil
}

// withoutDatabase distinguishes a fresh root from one whose database is lost and whose log is left.
func withoutDatabase(dir disk.FS) (Format, error) {
	for _, name := range Files()[1:] {
		size, err := dir.Size(name)
		if err == nil && size > 0 {
			return Other, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Other, err
		}
	}
	return Absent, nil
}

func classifyHeader(header []byte) Format {
	if string(header[:len(sqliteMagic)]) != sqliteMagic || header[sqliteWriteFormat] != 2 {
		return Other
	}
	ours := binary.BigEndian.Uint32(header[applicationIDAt:]) == applicationID
	if !ours || binary.BigEndian.Uint32(header[userVersionAt:]) != schemaVersion {
		return Other
	}
	return Current
}
