package events

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/krometrail/krometrail/core/redact"
)

// Bounds of one event.
const (
	maxPayload   = 8 << 10
	maxText      = 2048
	maxArguments = 16
	maxFrames    = 16
	maxFunction  = 256
	maxToken     = 96
)

// shrinker is a payload that can be made smaller by dropping its least important parts.
type shrinker interface {
	// shrink is called with 1, 2, 3 until the payload fits.
	shrink(step int)
}

// encode makes the payload's JSON, at most maxPayload bytes.
func encode(payload any) []byte {
	for step := 1; ; step++ {
		raw, err := json.Marshal(payload, jsontext.AllowInvalidUTF8(true))
		if err == nil && len(raw) <= maxPayload {
			return raw
		}
		s, ok := payload.(shrinker)
		if err != nil || !ok || step > 3 {
			return []byte(`{"truncated":true}`)
		}
		s.shrink(step)
	}
}

// text is what most events with words of the page share.
type text struct {
	Text      string  `json:"text,omitzero"`
	Truncated bool    `json:"truncated,omitzero"`
	Stack     []frame `json:"stack,omitempty"`
	Omitted   int     `json:"omitted_frames,omitzero"`
}

// shrink implements shrinker. Escaping can make a short text long in JSON.
func (t *text) shrink(step int) {
	t.Truncated = true
	frames, bytes := [3]int{4, 1, 0}[step-1], [3]int{maxText, maxText / 2, maxText / 8}[step-1]
	if len(t.Stack) > frames {
		t.Omitted += len(t.Stack) - frames
		t.Stack = t.Stack[:frames]
	}
	t.Text = redact.Text(t.Text, bytes)
}

// setText redacts and bounds.
func (t *text) setText(s string) {
	t.Text = redact.Text(s, maxText)
	t.Truncated = len(t.Text) == maxText && len(s) > maxText
}

// frame is one call of a stack, counted from 1 as editors do.
type frame struct {
	Function string             `json:"function,omitzero"`
	URL      *redact.URLSummary `json:"url,omitempty"`
	Line     int                `json:"line"`
	Column   int                `json:"column"`
}

type wireStack struct {
	Frames []wireFrame `json:"callFrames"`
}

type wireFrame struct {
	Function string `json:"functionName"`
	URL      string `json:"url"`
	Line     int    `json:"lineNumber"`
	Column   int    `json:"columnNumber"`
}

// setStack keeps the innermost calls.
func (t *text) setStack(u *urls, s *wireStack) {
	if s == nil {
		return
	}
	kept := min(len(s.Frames), maxFrames)
	t.Omitted = len(s.Frames) - kept
	t.Stack = make([]frame, 0, kept)
	for _, f := range s.Frames[:kept] {
		t.Stack = append(t.Stack, frame{Function: redact.Text(f.Function, maxFunction), URL: u.summary(f.URL), Line: f.Line + 1, Column: f.Column + 1})
	}
}

// token keeps a protocol word: letters, digits and a few signs, bounded. Anything else is "other".
func token(s string) string {
	if len(s) > maxToken {
		return "other"
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-' || c == '_' || c == '.' || c == '+' || c == '/' || c == ':':
		default:
			return "other"
		}
	}
	return s
}
