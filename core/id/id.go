// Package id makes and checks the short typed identifiers that agents copy between calls.
//
// An identifier is a prefix that names its kind, an underscore and 12 characters of lower-case
// Crockford base32 (60 random bits), for example "frm_7zq0m4x2k9ta". The kinds are distinct Go
// types, so a frame can never be passed where a target is meant.
package id

import (
	"crypto/rand"
	"fmt"
)

// The kinds of identifier. The zero value of each means "none".
type (
	// Session identifies one recording session: from a browser connection to its end.
	Session string
	// Target identifies one page of a session.
	Target string
	// DocumentFrame identifies one document frame (main frame or iframe) of a page.
	DocumentFrame string
	// Frame identifies one captured screencast frame.
	Frame string
	// Interaction identifies one dispatched action of the agent.
	Interaction string
	// Navigation identifies one navigation of a page.
	Navigation string
	// Marker identifies one caller-supplied label on the timeline.
	Marker string
	// Gap identifies one stretch of missing evidence.
	Gap string
	// Segment identifies one append-only storage file.
	Segment string
	// Artifact identifies one generated picture or clip.
	Artifact string
	// RangeHandle identifies one resolved range for the lifetime of the process.
	RangeHandle string
	// Batch identifies one ordered batch of actions.
	Batch string
	// Download identifies one observed download.
	Download string
	// Observation identifies one post-action picture kept in memory.
	Observation string
	// Trace identifies one action trace.
	Trace string
)

// Typed is implemented by every kind; Prefix is its fixed prefix without the underscore.
type Typed interface {
	~string
	Prefix() string
}

// Prefix implements Typed.
func (Session) Prefix() string { return "ses" }

// Prefix implements Typed.
func (Target) Prefix() string { return "tgt" }

// Prefix implements Typed.
func (DocumentFrame) Prefix() string { return "ifr" }

// Prefix implements Typed.
func (Frame) Prefix() string { return "frm" }

// Prefix implements Typed.
func (Interaction) Prefix() string { return "int" }

// Prefix implements Typed.
func (Navigation) Prefix() string { return "nav" }

// Prefix implements Typed.
func (Marker) Prefix() string { return "mrk" }

// Prefix implements Typed.
func (Gap) Prefix() string { return "gap" }

// Prefix implements Typed.
func (Segment) Prefix() string { return "seg" }

// Prefix implements Typed.
func (Artifact) Prefix() string { return "art" }

// Prefix implements Typed.
func (RangeHandle) Prefix() string { return "rng" }

// Prefix implements Typed.
func (Batch) Prefix() string { return "bat" }

// Prefix implements Typed.
func (Download) Prefix() string { return "dl" }

// Prefix implements Typed.
func (Observation) Prefix() string { return "obs" }

// Prefix implements Typed.
func (Trace) Prefix() string { return "trc" }

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	// Length is the number of characters after the underscore.
	Length = 12
)

// New returns a fresh identifier from the system's secure random source.
func New[T Typed]() T {
	var raw [Length]byte
	// crypto/rand.Read never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(raw[:])
	for i, b := range raw {
		raw[i] = alphabet[b&31]
	}
	var zero T
	return T(zero.Prefix() + "_" + string(raw[:]))
}

// Parse checks that text is an identifier of kind T. The error is a *KindError and never holds
// the text itself.
func Parse[T Typed](text string) (T, error) {
	var zero T
	prefix := zero.Prefix() + "_"
	if len(text) != len(prefix)+Length || text[:len(prefix)] != prefix {
		return zero, &KindError{Want: prefix}
	}
	for _, r := range []byte(text[len(prefix):]) {
		if !inAlphabet(r) {
			return zero, &KindError{Want: prefix}
		}
	}
	return T(text), nil
}

func inAlphabet(b byte) bool {
	switch {
	case b >= '0' && b <= '9':
		return true
	case b < 'a' || b > 'z':
		return false
	}
	return b != 'i' && b != 'l' && b != 'o' && b != 'u'
}

// KindError says which kind of identifier was expected.
type KindError struct{ Want string }

// Error implements error.
func (e *KindError) Error() string {
	return fmt.Sprintf("expected an identifier %s followed by %d characters", e.Want, Length)
}
