package cdp

import (
	"errors"
	"io"
)

// Transport carries whole protocol messages.
type Transport interface {
	// Read returns the next message. The bytes are valid until the next Read. Only one goroutine reads.
	Read() ([]byte, error)
	// Write sends one message. The client never calls it concurrently. It may block until the peer takes
	// the bytes; Close must make a blocked Write return.
	Write(message []byte) error
	// Close ends the connection and unblocks Read and Write. It may be called more than once.
	io.Closer
}

// MaxMessage bounds one incoming message in bytes. A larger one ends the connection: it cannot be skipped
// without reading it, and no reply the program asks for comes near it.
const MaxMessage = 256 << 20

// ErrMessageTooLarge is the reason a connection ends when a message exceeds MaxMessage.
var ErrMessageTooLarge = errors.New("protocol message exceeds the size limit")
