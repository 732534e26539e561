package cdp

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	pipeBuffer = 256 << 10
	// pipeKeep is the largest buffer kept between messages; one huge reply must not hold its memory for ever.
	pipeKeep = 8 << 20
)

// Pipe frames messages with a NUL byte, as Chrome's --remote-debugging-pipe does.
type Pipe struct {
	in    io.ReadCloser
	out   io.WriteCloser
	buf   []byte
	start int // first byte of the message that is being read
	end   int // end of the bytes read so far
	once  sync.Once
}

var _ Transport = (*Pipe)(nil)

// NewPipe reads messages from in and writes them to out. It owns both and closes them.
func NewPipe(in io.ReadCloser, out io.WriteCloser) *Pipe {
	return &Pipe{in: in, out: out, buf: make([]byte, pipeBuffer)}
}

// Read implements Transport.
func (p *Pipe) Read() ([]byte, error) {
	scanned := p.start
	for {
		if i := bytes.IndexByte(p.buf[scanned:p.end], 0); i >= 0 {
			message := p.buf[p.start : scanned+i]
			p.start = scanned + i + 1
			return message, nil
		}
		if p.end-p.start > MaxMessage {
			return nil, ErrMessageTooLarge
		}
		p.compact()
		scanned = p.end
		if p.end == len(p.buf) {
			p.buf = append(p.buf, make([]byte, len(p.buf))...)
		}
		n, err := p.in.Read(p.buf[p.end:])
		p.end += n
		if n == 0 && err != nil {
			return nil, p.endError(err)
		}
	}
}

// compact moves the unread rest to the front so that the buffer grows only for large messages. It runs only when the
// buffer holds no whole message: moving the rest for each message of a flood would cost more than reading it.
func (p *Pipe) compact() {
	if p.start == 0 && len(p.buf) <= pipeKeep {
		return
	}
	rest := p.buf[p.start:p.end]
	if len(p.buf) > pipeKeep && len(rest) <= pipeBuffer {
		fresh := make([]byte, pipeBuffer)
		p.end = copy(fresh, rest)
		p.buf, p.start = fresh, 0
		return
	}
	p.end = copy(p.buf, rest)
	p.start = 0
}

func (p *Pipe) endError(err error) error {
	if errors.Is(err, io.EOF) && p.end > p.start {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write implements Transport.
func (p *Pipe) Write(message []byte) error {
	framed := make([]byte, len(message)+1)
	copy(framed, message)
	_, err := p.out.Write(framed)
	return err
}

// Close implements Transport.
func (p *Pipe) Close() error {
	var err error
	p.once.Do(func() { err = errors.Join(p.out.Close(), p.in.Close()) })
	return err
}
