package segment

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
)

// Dir is the folder of segment files inside an instance root.
const Dir = "segments"

// Suffixes of segment files: a file under the open name may end in the middle of a record, one under the
// sealed name is complete and never changes.
const (
	OpenSuffix   = ".open"
	SealedSuffix = ".seg"
)

// OpenName is the path of a segment that is still written.
func OpenName(s id.Segment) string { return Dir + "/" + string(s) + OpenSuffix }

// SealedName is the path of a complete segment.
func SealedName(s id.Segment) string { return Dir + "/" + string(s) + SealedSuffix }

// Operation names the step of a segment's life that failed, in the words of persistence faults.
type Operation string

// The steps.
const (
	Create  Operation = "create"
	Write   Operation = "write"
	Flush   Operation = "flush"
	Sync    Operation = "sync"
	Rename  Operation = "rename"
	SyncDir Operation = "sync_directory"
)

// OpError is a failed step. Only a failed Create or SyncDir leaves the files in a known state; after any other
// the length or the name of the file is uncertain.
type OpError struct {
	Op  Operation
	Err error
}

// Error implements error.
func (e *OpError) Error() string { return fmt.Sprintf("segment: %s: %v", e.Op, e.Err) }

// Unwrap returns the system's error.
func (e *OpError) Unwrap() error { return e.Err }

func failed(op Operation, err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Op: op, Err: err}
}

// Writer appends records to one open segment. One goroutine appends; Flush and Seal may run in another, Seal
// only after the last Append returned.
type Writer struct {
	header Header
	fs     disk.FS
	file   disk.File
	end    atomic.Int64
	frames atomic.Uint64
}

// NewWriter creates the file of a new segment and writes its header.
func NewWriter(fs disk.FS, h Header) (*Writer, error) {
	f, err := fs.Create(OpenName(h.ID))
	if err != nil {
		return nil, failed(Create, err)
	}
	if _, err := f.WriteAt(EncodeHeader(h), 0); err != nil {
		_ = f.Close()
		return nil, failed(Write, err)
	}
	w := &Writer{header: h, fs: fs, file: f}
	w.end.Store(HeaderSize)
	return w, nil
}

// ID is the segment's identifier.
func (w *Writer) ID() id.Segment { return w.header.ID }

// Session is the session whose frames the segment holds.
func (w *Writer) Session() id.Session { return w.header.Session }

// Size is the length of the file up to the last complete record.
func (w *Writer) Size() int64 { return w.end.Load() }

// Frames is the number of records.
func (w *Writer) Frames() uint64 { return w.frames.Load() }

// Append writes one record that Buffer.Finish made and returns the offset of its payload in the file. When it
// returns the bytes are with the operating system. After an error the segment must not be written again.
func (w *Writer) Append(record []byte) (payloadOffset int64, err error) {
	at := w.end.Load()
	if _, err := w.file.WriteAt(record, at); err != nil {
		return 0, failed(Write, err)
	}
	w.end.Store(at + int64(len(record)))
	w.frames.Add(1)
	return at + RecordHeaderSize, nil
}

// Flush makes everything appended so far durable.
func (w *Writer) Flush() error { return failed(Flush, w.file.Datasync()) }

// Seal closes the segment: seal record, sync, rename to the sealed name, sync of the directory. A failure with
// Op SyncDir happens after the rename: the sealed file is then complete and authoritative.
func (w *Writer) Seal() error {
	end := w.end.Load()
	record := encodeSeal(Seal{Frames: w.frames.Load(), End: end})
	if _, err := w.file.WriteAt(record, end); err != nil {
		_ = w.file.Close()
		return failed(Write, err)
	}
	w.end.Store(end + SealSize)
	err := w.file.Sync()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return failed(Sync, err)
	}
	if err := w.fs.Rename(OpenName(w.header.ID), SealedName(w.header.ID)); err != nil {
		return failed(Rename, err)
	}
	return failed(SyncDir, w.fs.SyncDir(Dir))
}

// Abandon closes the file as it is, for a writer that failed.
func (w *Writer) Abandon() { _ = w.file.Close() }

// WriteSeal writes the closing record behind the last good record of a scanned file, which must end there. The
// caller syncs and renames.
func WriteSeal(f io.WriterAt, e Extent) error {
	_, err := f.WriteAt(encodeSeal(Seal{Frames: e.Frames, End: e.End}), e.End)
	return failed(Write, err)
}
