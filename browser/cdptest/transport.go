package cdptest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/krometrail/krometrail/browser/cdp"
)

// OverPipe returns a peer and the client's transport over operating-system pipes. Both end with the test.
func OverPipe(t testing.TB) (*Peer, cdp.Transport) {
	t.Helper()
	clientIn, peerOut := osPipe(t)
	peerIn, clientOut := osPipe(t)
	peer := newPeer(serialized(cdp.NewPipe(peerIn, peerOut)))
	t.Cleanup(peer.Drop)
	return peer, cdp.NewPipe(clientIn, clientOut)
}

func osPipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// Endpoint is a loopback debugging endpoint as an attachable browser offers it.
type Endpoint struct {
	server *httptest.Server
	setup  func(*Peer)
	peers  chan *Peer
	// OnlySocket hides the HTTP discovery, as some builds do.
	OnlySocket bool
}

// Serve starts an endpoint. setup scripts each connection's peer before it reads; nil for none.
func Serve(t testing.TB, setup func(*Peer)) *Endpoint {
	t.Helper()
	e := &Endpoint{setup: setup, peers: make(chan *Peer, 16)}
	e.server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// HTTP is the http address, Socket the WebSocket address.
func (e *Endpoint) HTTP() string { return e.server.URL }

// Socket is the browser's WebSocket address.
func (e *Endpoint) Socket() string {
	return "ws" + strings.TrimPrefix(e.server.URL, "http") + "/devtools/browser/scripted"
}

// Peer waits for the next connection.
func (e *Endpoint) Peer() *Peer { return <-e.peers }

func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/devtools/"):
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		peer := newPeerWith(serialized(cdp.NewWebSocket(conn)), e.setup)
		e.peers <- peer
		<-peer.Done()
	case r.URL.Path == "/json/version" && !e.OnlySocket:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"Browser":"Chrome/999.0","webSocketDebuggerUrl":"` + e.Socket() + `"}`))
	default:
		http.NotFound(w, r)
	}
}

// Close ends the endpoint: nothing answers there any more.
func (e *Endpoint) Close() {
	for {
		select {
		case peer := <-e.peers:
			peer.Drop()
		default:
			e.server.CloseClientConnections()
			e.server.Close()
			return
		}
	}
}

// OverWebSocket returns a peer and the client's transport over a loopback WebSocket. Both end with the test.
func OverWebSocket(t testing.TB) (*Peer, cdp.Transport) {
	t.Helper()
	endpoint := Serve(t, nil)
	transport, err := cdp.DialWebSocket(t.Context(), endpoint.Socket(), nil)
	if err != nil {
		t.Fatal(err)
	}
	peer := endpoint.Peer()
	t.Cleanup(peer.Drop)
	return peer, transport
}

// serialized lets a test and the peer's own goroutine write at the same time.
func serialized(t cdp.Transport) cdp.Transport { return &serial{Transport: t} }

type serial struct {
	cdp.Transport
	mu sync.Mutex
}

// Write implements cdp.Transport.
func (s *serial) Write(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Transport.Write(message)
}
