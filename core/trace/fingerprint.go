package trace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/krometrail/krometrail/core/redact"
)

// fingerprintPrefix carries the version of the construction.
const fingerprintPrefix = "hmac-sha256-v1:"

// domain keeps fingerprints of different things apart, also where their values are equal.
type domain string

const (
	urlDomain      domain = "url"
	stateDomain    domain = "state"
	targetIDDomain domain = "target-id"
	targetDomain   domain = "target"
	// shapeDomain is the target without its actions. It stays inside the process.
	shapeDomain domain = "target-shape"
)

// key is the secret of one trace.
type key struct{ secret [32]byte }

func newKey() *key {
	k := &key{}
	// crypto/rand.Read never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(k.secret[:])
	return k
}

// String keeps the key out of logs.
func (*key) String() string { return redact.Secret }

// GoString keeps the key out of logs.
func (*key) GoString() string { return redact.Secret }

// fingerprint is the HMAC of schema, domain and the parts, each framed by its length so that no two lists of
// parts are alike.
func (k *key) fingerprint(d domain, parts ...[]byte) string {
	mac := hmac.New(sha256.New, k.secret[:])
	frame := func(part []byte) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write(part)
	}
	frame([]byte(Schema))
	frame([]byte(d))
	for _, part := range parts {
		frame(part)
	}
	return fingerprintPrefix + hex.EncodeToString(mac.Sum(nil))
}

// state makes the exported form of a page.
func (k *key) state(p Page) State {
	if !p.Exists {
		return State{Fingerprint: k.fingerprint(stateDomain, []byte("no page"))}
	}
	s := State{HasPage: true, Origin: redact.Name(redact.Origin(p.URL), MaxString)}
	if p.URL != "" {
		s.URLFingerprint = k.fingerprint(urlDomain, []byte(p.URL))
	}
	if p.Snapshot != nil {
		s.Fingerprint = k.fingerprint(stateDomain, []byte("page"), p.Snapshot)
	}
	return s
}

// target makes the exported form of an element.
func (k *key) target(e Element) Target {
	return Target{Provenance: Provenance, TargetID: k.fingerprint(targetIDDomain, []byte(e.Node)), StableKey: k.stable(e), Role: role(e.Role)}
}

// stable covers the description with the actions the element offers.
func (k *key) stable(e Element) string {
	actions := slices.Clone(e.Actions)
	slices.Sort(actions)
	parts := e.shape()
	for _, a := range slices.Compact(actions) {
		parts = append(parts, []byte(a))
	}
	return k.fingerprint(targetDomain, parts...)
}

func (k *key) shape(e Element) string { return k.fingerprint(shapeDomain, e.shape()...) }
