package ffmpeg

import (
	"context"
	"crypto/sha256"
	"errors"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/krometrail/krometrail/core/fault"
)

// Request is a clip to make.
type Request struct {
	// Width and Height of every picture. Odd sides are made even by repeating the last line.
	Width, Height int
	// Durations has one entry for each picture, in order; each is at least a microsecond.
	Durations []time.Duration
	// Picture returns picture i. It is called once for each i, in order, from the goroutine that called Encode, and keeps
	// ownership: the picture is read before the next call only. Its error ends the encode and is returned as it is.
	Picture func(ctx context.Context, i int) (*image.RGBA, error)
	// Directory must exist. The unfinished file is made in it, named ".clip-*.mp4", with mode 0600.
	Directory string
	// MaxBytes lowers the limit of the finished file; 0 keeps it.
	MaxBytes int64
	// Progress, unless nil, is called after each picture with how many of how many are done.
	Progress func(done, total int)
}

// Clip is a finished clip in a temporary file. Its owner calls Publish or Discard.
type Clip struct {
	// Path of the file.
	Path string
	// Bytes and SHA256 of the file.
	Bytes  int64
	SHA256 [sha256.Size]byte
	// Width and Height of the video, both even.
	Width, Height int
	// Times says when each picture begins, from the start of the clip, exactly as it stands in the file.
	Times []time.Duration
	// Length of the clip. It is the sum of the durations unless the last picture was shorter than 1/60 s.
	Length time.Duration
	// Build is the first line of ffmpeg -version, Encoder the name of the H.264 encoder.
	Build, Encoder string
	// Parameters are the encoding arguments that ffmpeg got, without paths.
	Parameters []string
	// MediaType is always video/mp4.
	MediaType string
}

// Publish makes the clip durable under path, which is on the same file system, in one step: path is absent, or what it
// was before, or the whole clip. On an error the temporary file remains.
func (c *Clip) Publish(path string) error {
	if err := syncFile(c.Path); err != nil {
		return persistence("sync", err)
	}
	if err := os.Rename(c.Path, path); err != nil {
		return persistence("rename", err)
	}
	c.Path = path
	if err := syncFile(filepath.Dir(path)); err != nil {
		return persistence("sync_directory", err)
	}
	return nil
}

// Discard removes the file. A file that is gone already is no error.
func (c *Clip) Discard() error {
	if err := os.Remove(c.Path); err != nil && !os.IsNotExist(err) {
		return persistence("write", err)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

func persistence(operation string, cause error) error {
	category := "io"
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		category = "storage_full"
	case errors.Is(cause, fs.ErrPermission):
		category = "permission"
	}
	return fault.New(fault.PersistenceFailed, "the video could not be stored").
		WithPersistence(operation, category, "writer_usable").Because(cause)
}

// digest returns the size and hash of the file.
func digest(f *os.File) (n int64, sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		n, err = io.Copy(h, f)
	}
	copy(sum[:], h.Sum(nil))
	return n, sum, err
}
