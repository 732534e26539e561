package storage

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/segment"
)

// Recoverability of a persistence failure.
const (
	writerUsable   = "writer_usable"
	writerTerminal = "writer_terminal"
)

// Operations that are not steps of a segment.
const opIndex = "index"

// category names the kind of a failure without its text.
func category(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), index.IsFull(err):
		return "storage_full"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "permission"
	case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrNotASegment), errors.Is(err, segment.ErrUnsupportedVersion):
		return "corrupt"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EFBIG):
		return "limit"
	case isErrno(err):
		return "io"
	}
	return "unknown"
}

func isErrno(err error) bool {
	var no syscall.Errno
	return errors.As(err, &no)
}

// writeFault describes a failed step of a segment. Creating a file and syncing the directory after a completed
// rename leave every file in a known state; after any other failure the writer is finished.
func writeFault(err error) *fault.Error {
	operation := segment.Write
	if op, ok := errors.AsType[*segment.OpError](err); ok {
		operation = op.Op
	}
	if operation == segment.Create || operation == segment.SyncDir {
		return fault.New(fault.PersistenceFailed, "storing a frame failed; the recorder can go on with a new session").
			WithRecovery("start a new browser session").
			WithPersistence(string(operation), category(err), writerUsable).Because(err)
	}
	return terminalFault(string(operation), err)
}

func terminalFault(operation string, err error) *fault.Error {
	return fault.New(fault.PersistenceFailed, "recording stopped: evidence can no longer be stored").
		WithRecovery("restart the Krometrail MCP process; evidence that is already stored stays readable until then").
		WithPersistence(operation, category(err), writerTerminal).Because(err)
}

// usableFault is a failure that left the recorder intact.
func usableFault(operation string, err error) *fault.Error {
	return fault.New(fault.PersistenceFailed, "storing a derived file failed").
		WithRecovery("free disk space or check the data directory, then ask again").
		WithPersistence(operation, category(err), writerUsable).Because(err)
}

// readFault describes a failed read.
func readFault(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.PersistenceFailed, "stored evidence cannot be read").WithRecovery("ask again").
		WithPersistence(opIndex, category(err), writerUsable).Because(err)
}

func closedFault() *fault.Error {
	return fault.New(fault.InvalidLifecycleTransition, "the recording store is closed").
		WithRecovery("restart the Krometrail MCP process")
}

func notFound(what string) *fault.Error { return fault.New(fault.NotFound, "no such %s", what) }
