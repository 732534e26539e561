package cdptest

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
)

// Command is one command the client sent.
type Command struct {
	ID      int64           `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// Decode decodes the parameters.
func (c Command) Decode(v any) error { return json.Unmarshal(c.Params, v) }

// Reply is the answer to a command. The zero value answers {}.
type Reply struct {
	// Result is encoded as JSON; nil means {}.
	Result any
	// Code is not zero for a refusal with Message.
	Code    int
	Message string
	// Hang leaves the command without an answer.
	Hang bool
}

// Fail is a refusal.
func Fail(code int, message string) Reply { return Reply{Code: code, Message: message} }

// Hang is no answer at all.
func Hang() Reply { return Reply{Hang: true} }

// Handler answers a command on the peer's goroutine.
type Handler func(Command) Reply

// Peer is the browser's end of one connection. Its methods are safe for concurrent use.
type Peer struct {
	transport cdp.Transport

	mu       sync.Mutex
	changed  *sync.Cond
	handlers map[string]Handler
	nth      map[string]map[int]Reply
	seen     []Command
	count    map[string]int
	paused   bool
	ended    bool
	done     chan struct{}
}

// newPeer serves the transport until it ends.
func newPeer(transport cdp.Transport) *Peer {
	p := &Peer{
		transport: transport, handlers: map[string]Handler{}, nth: map[string]map[int]Reply{},
		count: map[string]int{}, done: make(chan struct{}),
	}
	p.changed = sync.NewCond(&p.mu)
	p.defaults()
	go p.run()
	return p
}

// Handle answers every command of the method with f, unless an nth answer was set for it. Commands without a
// handler are answered {}.
func (p *Peer) Handle(method string, f Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handlers[method] = f
}

// Nth answers the nth command of the method, counted from 1 over all sessions, with reply.
func (p *Peer) Nth(n int, method string, reply Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nth[method] == nil {
		p.nth[method] = map[int]Reply{}
	}
	p.nth[method][n] = reply
}

// Event sends an event; session "" is the browser's own. Params are encoded as JSON.
func (p *Peer) Event(session, method string, params any) {
	message := map[string]any{"method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	p.send(message)
}

// Raw sends bytes as one message.
func (p *Peer) Raw(message []byte) { _ = p.transport.Write(message) }

// Answer sends the reply to a command that was left hanging.
func (p *Peer) Answer(c Command, reply Reply) { p.reply(c, reply) }

// Drop ends the connection as a browser that died would.
func (p *Peer) Drop() {
	_ = p.transport.Close()
	p.Resume()
	<-p.done
}

// Pause stops taking bytes from the client once the message under way has been read; its writes block when
// the buffers between are full.
func (p *Peer) Pause() { p.setPaused(true) }

// Resume ends a Pause.
func (p *Peer) Resume() { p.setPaused(false) }

func (p *Peer) setPaused(paused bool) {
	p.mu.Lock()
	p.paused = paused
	p.mu.Unlock()
	p.changed.Broadcast()
}

// Await waits until the client has sent n commands of the method and returns the nth. It panics when the
// connection ends first; tests rely on the test binary's own time limit.
func (p *Peer) Await(n int, method string) Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.count[method] < n {
		if p.ended {
			panic(fmt.Sprintf("the connection ended before %s number %d", method, n))
		}
		p.changed.Wait()
	}
	for _, c := range p.seen {
		if c.Method == method {
			if n--; n == 0 {
				return c
			}
		}
	}
	panic("unreachable")
}

// Commands returns what the client has sent with the method so far, everything for "".
func (p *Peer) Commands(method string) []Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Command
	for _, c := range p.seen {
		if method == "" || c.Method == method {
			list = append(list, c)
		}
	}
	return list
}

// Done is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.done }

func (p *Peer) run() {
	defer close(p.done)
	defer p.end()
	for {
		p.waitResumed()
		message, err := p.transport.Read()
		if err != nil {
			return
		}
		var c Command
		if json.Unmarshal(message, &c) != nil {
			return
		}
		c.Params = append(json.RawMessage(nil), c.Params...)
		if reply := p.take(c); !reply.Hang {
			p.reply(c, reply)
		}
	}
}

func (p *Peer) waitResumed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.paused && !p.ended {
		p.changed.Wait()
	}
}

func (p *Peer) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.changed.Broadcast()
}

// take records the command and finds its answer.
func (p *Peer) take(c Command) Reply {
	p.mu.Lock()
	p.seen = append(p.seen, c)
	p.count[c.Method]++
	reply, fixed := p.nth[c.Method][p.count[c.Method]]
	handler := p.handlers[c.Method]
	p.mu.Unlock()
	defer p.changed.Broadcast()
	switch {
	case fixed:
		return reply
	case handler != nil:
		return handler(c)
	}
	return Reply{}
}

func (p *Peer) reply(c Command, r Reply) {
	message := map[string]any{"id": c.ID}
	if c.Session != "" {
		message["sessionId"] = c.Session
	}
	switch {
	case r.Code != 0:
		message["error"] = map[string]any{"code": r.Code, "message": r.Message}
	case r.Result != nil:
		message["result"] = r.Result
	default:
		message["result"] = map[string]any{}
	}
	p.send(message)
}

func (p *Peer) send(message any) {
	raw, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	_ = p.transport.Write(raw)
}
