package eventquery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

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

func (c cursors) seal(k record.EventKey, query string) string {
	place, err := json.Marshal(k)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(c.mac(place, query), place...))
}

func (c cursors) open(text, query string) (*record.EventKey, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < macBytes || !hmac.Equal(raw[:macBytes], c.mac(raw[macBytes:], query)) {
		return nil, fault.Input("cursor", "is not a cursor of this query in this process; start again without it")
	}
	var k record.EventKey
	if json.Unmarshal(raw[macBytes:], &k) != nil {
		return nil, fault.Input("cursor", "is not a cursor of this query in this process; start again without it")
	}
	return &k, nil
}

func (c cursors) mac(place []byte, query string) []byte {
	h := hmac.New(sha256.New, c.key[:])
	h.Write([]byte(query))
	h.Write(place)
	return h.Sum(nil)[:macBytes]
}

// digest names a query without its place.
func digest(q record.EventQuery) string {
	q.After = nil
	raw, err := json.Marshal(q)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return string(sum[:])
}
