package cdp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// WebSocket carries one protocol message per text message.
type WebSocket struct {
	conn *websocket.Conn
	buf  bytes.Buffer
	once sync.Once
}

var _ Transport = (*WebSocket)(nil)

// DialWebSocket connects to a DevTools WebSocket address. Only the handshake is bounded by ctx: the
// library ends the whole connection when a context given to Read or Write ends, so they never see one.
func DialWebSocket(ctx context.Context, address string, client *http.Client) (*WebSocket, error) {
	conn, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient:      client,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if response != nil && response.Body != nil {
			_ = response.Body.Close()
		}
		return nil, fmt.Errorf("connecting to the debugging endpoint: %w", err)
	}
	return NewWebSocket(conn), nil
}

// NewWebSocket wraps an open connection and lifts its read limit to MaxMessage.
func NewWebSocket(conn *websocket.Conn) *WebSocket {
	conn.SetReadLimit(MaxMessage)
	return &WebSocket{conn: conn}
}

// Read implements Transport.
func (w *WebSocket) Read() ([]byte, error) {
	_, reader, err := w.conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if w.buf.Cap() > pipeKeep {
		w.buf = bytes.Buffer{}
	}
	w.buf.Reset()
	if _, err := io.Copy(&w.buf, reader); err != nil {
		return nil, err
	}
	return w.buf.Bytes(), nil
}

// Write implements Transport.
func (w *WebSocket) Write(message []byte) error {
	return w.conn.Write(context.Background(), websocket.MessageText, message)
}

// Close implements Transport.
func (w *WebSocket) Close() error {
	var err error
	w.once.Do(func() { err = w.conn.CloseNow() })
	return err
}
