package cdptest

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
)

// Product and Protocol are the versions the scripted browser reports.
const (
	Product  = "Chrome/999.0.0.0"
	Protocol = "1.3"
)

func newPeerWith(transport cdp.Transport, setup func(*Peer)) *Peer {
	if setup == nil {
		return newPeer(transport)
	}
	// The script is in place before the first command can arrive: reading starts in newPeer.
	held := &held{Transport: transport, open: make(chan struct{})}
	p := newPeer(held)
	setup(p)
	close(held.open)
	return p
}

type held struct {
	cdp.Transport
	open chan struct{}
}

// Read implements cdp.Transport.
func (h *held) Read() ([]byte, error) {
	<-h.open
	return h.Transport.Read()
}

func (p *Peer) defaults() {
	p.handlers["Browser.getVersion"] = func(Command) Reply {
		return Reply{Result: map[string]any{
			"product": Product, "protocolVersion": Protocol, "revision": "@0", "userAgent": "scripted", "jsVersion": "0",
		}}
	}
	p.handlers["Page.getFrameTree"] = func(c Command) Reply {
		frame := strings.TrimPrefix(c.Session, "session-")
		return Reply{Result: map[string]any{"frameTree": map[string]any{"frame": map[string]any{"id": frame, "loaderId": "loader-" + frame, "url": "about:blank"}}}}
	}
	p.handlers["Page.createIsolatedWorld"] = func(Command) Reply {
		return Reply{Result: map[string]any{"executionContextId": 7}}
	}
	p.handlers["Page.getLayoutMetrics"] = func(Command) Reply {
		box := map[string]any{"clientWidth": 1280, "clientHeight": 720, "scale": 1}
		return Reply{Result: map[string]any{"cssLayoutViewport": box, "cssVisualViewport": box, "cssContentSize": map[string]any{"width": 1280, "height": 720}}}
	}
	p.handlers["Runtime.evaluate"] = func(Command) Reply {
		return Reply{Result: map[string]any{"result": map[string]any{"type": "undefined"}}}
	}
}

// SessionOf is the protocol session of a page that AttachPage attaches.
func SessionOf(target string) string { return "session-" + target }

// AttachPage announces a page target and attaches to it, as auto-attach does, and returns its session. opener
// is the opening page's target or "".
func (p *Peer) AttachPage(target, url, opener string) string {
	info := map[string]any{"targetId": target, "type": "page", "title": "", "url": url, "attached": true}
	if opener != "" {
		info["openerId"] = opener
	}
	p.Event("", "Target.attachedToTarget", map[string]any{
		"sessionId": SessionOf(target), "targetInfo": info, "waitingForDebugger": true,
	})
	return SessionOf(target)
}

// ClosePage detaches and destroys a page target.
func (p *Peer) ClosePage(target string) {
	p.Event("", "Target.detachedFromTarget", map[string]any{"sessionId": SessionOf(target), "targetId": target})
	p.Event("", "Target.targetDestroyed", map[string]any{"targetId": target})
}

// JPEG is the smallest valid picture that says it is w x h: enough for a header check.
func JPEG(w, h int) []byte {
	return []byte{
		0xFF, 0xD8, 0xFF, 0xC0, 0x00, 0x0B, 0x08, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 0x01, 0x01, 0x11, 0x00, 0xFF, 0xD9,
	}
}

// FrameEvent is the exact text of a screencast frame as Chrome writes it. monotonic is in seconds; token is
// the acknowledgement's.
func FrameEvent(session string, token int, monotonic float64, picture []byte) []byte {
	return fmt.Appendf(nil, `{"method":"Page.screencastFrame","params":{"data":"%s","metadata":{"offsetTop":0,"pageScaleFactor":1,`+
		`"deviceWidth":1280,"deviceHeight":720,"scrollOffsetX":0,"scrollOffsetY":0,"timestamp":1700000000.5,"monotonicTimestamp":%f},`+
		`"sessionId":%d},"sessionId":"%s"}`, base64.StdEncoding.EncodeToString(picture), monotonic, token, session)
}

// Frame sends one screencast frame.
func (p *Peer) Frame(session string, token int, monotonic float64) {
	p.Raw(FrameEvent(session, token, monotonic, JPEG(1280, 720)))
}
