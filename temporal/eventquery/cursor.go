package eventquery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

// cursors seals places in an event list so that they are good for one process and one query only.
type cursors struct{ key [32]byte }

func newCursors() cursors {
	var c cursors
	// crypto/rand.Read never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(c.key[:])
	return c
}

const macBytes = 12

// place is where a page of a list ended, and where the list itself ends: events that come after the first page was
// asked for are not part of it.
type place struct {
	record.EventKey
	Until clock.SessionTime `json:"until"`
}

func (c cursors) seal(p place, query string) string {
	place, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(c.mac(place, query), place...))
}

func (c cursors) open(text, query string) (place, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < macBytes || !hmac.Equal(raw[:macBytes], c.mac(raw[macBytes:], query)) {
		return place{}, notOurs()
	}
	var p place
	if json.Unmarshal(raw[macBytes:], &p) != nil {
		return place{}, notOurs()
	}
	return p, nil
}

func notOurs() error {
	return fault.Input("cursor", "is not a cursor of this query in this process; start again without it")
}

func (c cursors) mac(place []byte, query string) []byte {
	h := hmac.New(sha256.New, c.key[:])
	h.Write([]byte(query))
	h.Write(place)
	return h.Sum(nil)[:macBytes]
}

// digest names what was asked, without the place in its answer: the range as it was requested, because what is there
// of it grows while the page lives.
func digest(q record.EventQuery, r evidence.ResolvedRange) string {
	q.After, q.StartNS, q.EndNS = nil, r.Requested.StartNS, r.Requested.EndNS
	raw, err := json.Marshal(q)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return string(sum[:])
}
