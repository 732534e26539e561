package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest accepted input line in bytes, without its newline.
const MaxLine = 32 << 20

var errLineTooLong = errors.New("line too long")

// lineReader splits a stream into lines of at most max bytes.
type lineReader struct {
	in  *bufio.Reader
	max int
}

func newLineReader(in io.Reader, limit int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), max: limit}
}

// next returns the next line that is not blank, without surrounding white space. A longer line than max is
// skipped to its end and reported as errLineTooLong; a last line without newline counts. The slice belongs
// to the caller.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.read()
		if errors.Is(err, errLineTooLong) {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *lineReader) read() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > r.max {
			return nil, r.skip(err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skip reads to the end of a line that is too long; err is the state of the part that was read last.
func (r *lineReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	return errLineTooLong
}
