// Package client is a small MCP client for a server in the same process, over the server's real loop: the
// demonstration and the test harness drive the program through it exactly as an agent would.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// Server is the side that the client talks to; Serve must return soon after in ends.
type Server interface {
	Serve(ctx context.Context, in io.Reader, out io.Writer) error
}

// ErrClosed is the error of calls on a connection that has ended.
var ErrClosed = errors.New("the connection to the server has ended")

// Client is one connection. Its methods may be called concurrently.
type Client struct {
	version  string
	in       *io.PipeWriter
	notified func(Notification)
	check    func(tool string, structured json.RawMessage) error
	served   chan error
	done     chan struct{} // closed when the reader has ended

	sending sync.Mutex // keeps lines whole

	mu      sync.Mutex
	next    int64
	waiting map[string]chan reply
	closed  bool
}

// Notification is a message of the server that answers no request.
type Notification struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Option adjusts Dial.
type Option func(*Client)

// WithVersion chooses the protocol version; the default is 2026-07-28. An older one is negotiated by initialize.
func WithVersion(version string) Option { return func(c *Client) { c.version = version } }

// WithNotifications passes notifications to f, in order, on the client's reading goroutine: f must not call the
// client.
func WithNotifications(f func(Notification)) Option { return func(c *Client) { c.notified = f } }

// WithCheck passes every tool's structured content to f; its error fails the call.
func WithCheck(f func(tool string, structured json.RawMessage) error) Option {
	return func(c *Client) { c.check = f }
}

// Dial starts serving a connection and, for an older version, initializes it. ctx bounds the handshake and its
// values reach the server; Close ends the connection.
func Dial(ctx context.Context, server Server, options ...Option) (*Client, error) {
	inSide, in := io.Pipe()
	outSide, out := io.Pipe()
	c := &Client{
		version: protocol.ProtocolVersion20260728, in: in, notified: func(Notification) {},
		check:  func(string, json.RawMessage) error { return nil },
		served: make(chan error, 1), done: make(chan struct{}), waiting: map[string]chan reply{},
	}
	for _, option := range options {
		option(c)
	}
	go func() {
		c.served <- server.Serve(context.WithoutCancel(ctx), inSide, out)
		_ = inSide.Close()
		_ = out.Close()
	}()
	go c.read(outSide)
	if c.modern() {
		return c, nil
	}
	if err := c.initialize(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Client) modern() bool { return c.version == protocol.ProtocolVersion20260728 }

func (c *Client) initialize(ctx context.Context) error {
	var settled struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	err := c.Request(ctx, "initialize", map[string]any{
		"protocolVersion": c.version, "capabilities": struct{}{}, "clientInfo": clientInfo(),
	}, &settled)
	if err != nil {
		return err
	}
	if settled.ProtocolVersion != c.version {
		return fmt.Errorf("the server speaks %s, not %s", settled.ProtocolVersion, c.version)
	}
	return c.notify("notifications/initialized", struct{}{})
}

func clientInfo() map[string]string {
	return map[string]string{"name": "krometrail-client", "version": "1"}
}

// Close ends the input, waits for the server to end and returns what Serve returned.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if !first {
		return ErrClosed
	}
	_ = c.in.Close()
	err := <-c.served
	<-c.done
	return err
}

// reply is a response as it came.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Error is a JSON-RPC error of the server.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// read hands responses to who waits for them until the output ends.
func (c *Client) read(out io.Reader) {
	defer close(c.done)
	defer c.abandon()
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			c.receive(line)
		}
		if err != nil {
			return
		}
	}
}

func (c *Client) receive(line []byte) {
	var message struct {
		reply
		Notification
	}
	if json.Unmarshal(line, &message) != nil {
		return
	}
	if message.Method != "" {
		c.notified(message.Notification)
		return
	}
	c.mu.Lock()
	waiter := c.waiting[string(message.ID)]
	delete(c.waiting, string(message.ID))
	c.mu.Unlock()
	if waiter != nil {
		waiter <- message.reply
	}
}

// abandon ends every wait: nothing more will come.
func (c *Client) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, waiter := range c.waiting {
		close(waiter)
		delete(c.waiting, id)
	}
}

// Request sends any request and decodes its result. When ctx ends first, the request is cancelled and the error
// is the cause of ctx. An error response is an *Error.
func (c *Client) Request(ctx context.Context, method string, params map[string]any, result any) error {
	id, waiter, err := c.expect()
	if err != nil {
		return err
	}
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": c.withMeta(params)}); err != nil {
		return err
	}
	select {
	case got, ok := <-waiter:
		switch {
		case !ok:
			return ErrClosed
		case got.Error != nil:
			return got.Error
		}
		return json.Unmarshal(got.Result, result)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, strconv.FormatInt(id, 10))
		c.mu.Unlock()
		return errors.Join(context.Cause(ctx), c.notify("notifications/cancelled", map[string]any{"requestId": id}))
	}
}

func (c *Client) expect() (int64, chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, ErrClosed
	}
	c.next++
	waiter := make(chan reply, 1)
	c.waiting[strconv.FormatInt(c.next, 10)] = waiter
	return c.next, waiter, nil
}

// withMeta adds what every modern request carries.
func (c *Client) withMeta(params map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, params)
	meta := map[string]any{}
	if given, ok := all["_meta"].(map[string]any); ok {
		maps.Copy(meta, given)
	}
	if c.modern() {
		meta[protocol.MetaKeyProtocolVersion] = c.version
		meta[protocol.MetaKeyClientCapabilities] = struct{}{}
		meta[protocol.MetaKeyClientInfo] = clientInfo()
	}
	if len(meta) > 0 {
		all["_meta"] = meta
	}
	return all
}

func (c *Client) notify(method string, params any) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (c *Client) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if _, err = c.in.Write(append(line, '\n')); err != nil {
		return ErrClosed
	}
	return nil
}
