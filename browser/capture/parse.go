package capture

import (
	"bytes"
	"strconv"

	"github.com/krometrail/krometrail/browser/cdp"
)

// Chrome writes a frame as
//
//	{"method":"Page.screencastFrame","params":{"data":"<base64>","metadata":{...},"sessionId":1},"sessionId":"HEX"}
//
// The frame is found by this prefix and cut apart by hand: a general decoder would cost more than everything else
// together. Another spelling takes the slow way through decodeFrame.
var (
	framePrefix  = []byte(`{"method":"Page.screencastFrame","params":{"data":"`)
	metadataMark = []byte(`","metadata":`)
	tokenMark    = []byte(`,"sessionId":`)
)

// rawFrame is a frame message cut apart. The slices alias the message.
type rawFrame struct {
	session  []byte
	token    int64
	data     []byte
	metadata []byte
}

// metadata of a frame. Pointers tell absent from zero.
type metadata struct {
	OffsetTop float64  `json:"offsetTop"`
	PageScale *float64 `json:"pageScaleFactor"`
	Width     *float64 `json:"deviceWidth"`
	Height    *float64 `json:"deviceHeight"`
	ScrollX   float64  `json:"scrollOffsetX"`
	ScrollY   float64  `json:"scrollOffsetY"`
	Wall      float64  `json:"timestamp"`
	Monotonic float64  `json:"monotonicTimestamp"`
}

// cutFrame recognises a frame message in the usual spelling.
func cutFrame(message []byte) (f rawFrame, ok bool) {
	if !bytes.HasPrefix(message, framePrefix) {
		return rawFrame{}, false
	}
	rest := message[len(framePrefix):]
	end := bytes.IndexByte(rest, '"')
	if end < 0 || !bytes.HasPrefix(rest[end:], metadataMark) {
		return rawFrame{}, false
	}
	f.data, rest = rest[:end], rest[end+len(metadataMark):]
	// What follows is {...},"sessionId":1},"sessionId":"HEX"}; cut from the back, as only the metadata has
	// members that may change.
	rest, ok = bytes.CutSuffix(rest, []byte(`"}`))
	if !ok {
		return rawFrame{}, false
	}
	at := bytes.LastIndex(rest, []byte(`},"sessionId":"`))
	if at < 0 {
		return rawFrame{}, false
	}
	f.session, rest = rest[at+len(`},"sessionId":"`):], rest[:at]
	at = bytes.LastIndex(rest, tokenMark)
	if at < 0 || len(f.session) == 0 {
		return rawFrame{}, false
	}
	token, err := strconv.ParseInt(string(rest[at+len(tokenMark):]), 10, 64)
	if err != nil {
		return rawFrame{}, false
	}
	f.token, f.metadata = token, rest[:at]
	return f, true
}

// decodeFrame reads the parameters of a frame event in any spelling.
func decodeFrame(e cdp.Event) (f rawFrame, m metadata, err error) {
	var p struct {
		Data     string   `json:"data"`
		Metadata metadata `json:"metadata"`
		Token    int64    `json:"sessionId"`
	}
	if err := e.Decode(&p); err != nil {
		return rawFrame{}, metadata{}, err
	}
	return rawFrame{session: []byte(e.Session), token: p.Token, data: []byte(p.Data)}, p.Metadata, nil
}
