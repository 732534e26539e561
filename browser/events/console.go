package events

import (
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// consolePayload is a console message of the page or of the browser about it.
type consolePayload struct {
	// Type is the console method for messages of the page (log, error, assert, …).
	Type string `json:"type,omitzero"`
	// Source is where a message of the browser comes from (network, security, violation, …).
	Source  string `json:"source,omitzero"`
	Context string `json:"context,omitzero"`
	text
	Arguments int `json:"argument_count,omitzero"`
	// OmittedArguments counts the arguments that are not in the text.
	OmittedArguments int                `json:"omitted_arguments,omitzero"`
	URL              *redact.URLSummary `json:"url,omitempty"`
	Line             int                `json:"line,omitzero"`
	RequestID        string             `json:"request_id,omitzero"`
	// BeforeAttachment: the message is older than the recording of the page; its time is when it became known.
	BeforeAttachment bool `json:"before_attachment,omitzero"`
}

func (w *writer) console(s *stream, e cdp.Event) {
	var p struct {
		Type      string     `json:"type"`
		Args      []remote   `json:"args"`
		Timestamp float64    `json:"timestamp"`
		Stack     *wireStack `json:"stackTrace"`
	}
	if !w.decode(e, &p) {
		return
	}
	payload := &consolePayload{Type: token(p.Type), Context: s.context, Arguments: len(p.Args)}
	kept := p.Args[:min(len(p.Args), maxArguments)]
	payload.OmittedArguments = len(p.Args) - len(kept)
	payload.setText(message(kept))
	payload.setStack(w.urls, p.Stack)
	at, early := w.times.fromWall(p.Timestamp, e, s)
	payload.BeforeAttachment = early
	w.emit(s, record.ClassConsole, consoleSeverity(p.Type), at, payload)
}

func consoleSeverity(kind string) record.Severity {
	switch kind {
	case "error", "assert":
		return record.Error
	case "warning":
		return record.Warning
	case "debug", "trace", "profile", "profileEnd":
		return record.Debug
	}
	return record.Info
}

// logEntry is what the browser itself writes to the console: failed loads, violations, messages of workers.
func (w *writer) logEntry(s *stream, e cdp.Event) {
	var p struct {
		Entry struct {
			Source    string     `json:"source"`
			Level     string     `json:"level"`
			Text      string     `json:"text"`
			Timestamp float64    `json:"timestamp"`
			URL       string     `json:"url"`
			Line      *int       `json:"lineNumber"`
			Stack     *wireStack `json:"stackTrace"`
			RequestID string     `json:"networkRequestId"`
			Worker    string     `json:"workerId"`
		} `json:"entry"`
	}
	if !w.decode(e, &p) {
		return
	}
	entry := p.Entry
	if entry.Worker != "" && w.followed(entry.Worker) {
		return // the worker has told it itself
	}
	payload := &consolePayload{Source: token(entry.Source), Context: s.context, URL: w.urls.summary(entry.URL), RequestID: requestID(entry.RequestID)}
	if entry.Line != nil {
		payload.Line = *entry.Line + 1
	}
	payload.setText(entry.Text)
	payload.setStack(w.urls, entry.Stack)
	at, early := w.times.fromWall(entry.Timestamp, e, s)
	payload.BeforeAttachment = early
	w.emit(s, record.ClassConsole, logSeverity(entry.Level), at, payload)
}

func logSeverity(level string) record.Severity {
	switch level {
	case "error":
		return record.Error
	case "warning":
		return record.Warning
	case "verbose":
		return record.Debug
	}
	return record.Info
}

// exceptionPayload is an uncaught exception or an unhandled rejection.
type exceptionPayload struct {
	// Class is the exception's class ("TypeError"), "" for a thrown primitive.
	Class     string `json:"class,omitzero"`
	InPromise bool   `json:"in_promise,omitzero"`
	Context   string `json:"context,omitzero"`
	text
	URL              *redact.URLSummary `json:"url,omitempty"`
	Line             int                `json:"line,omitzero"`
	Column           int                `json:"column,omitzero"`
	BeforeAttachment bool               `json:"before_attachment,omitzero"`
}

func (w *writer) exception(s *stream, e cdp.Event) {
	var p struct {
		Timestamp float64 `json:"timestamp"`
		Details   struct {
			Text      string     `json:"text"`
			URL       string     `json:"url"`
			Line      int        `json:"lineNumber"`
			Column    int        `json:"columnNumber"`
			Stack     *wireStack `json:"stackTrace"`
			Exception *remote    `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if !w.decode(e, &p) {
		return
	}
	d := p.Details
	payload := &exceptionPayload{
		InPromise: strings.Contains(d.Text, "in promise"), Context: s.context,
		URL: w.urls.summary(d.URL), Line: d.Line + 1, Column: d.Column + 1,
	}
	words := d.Text
	if d.Exception != nil {
		payload.Class = token(d.Exception.ClassName)
		words = d.Exception.String()
		// An error's description repeats the stack that is kept in its own field.
		if head, _, cut := strings.Cut(words, "\n    at "); cut && d.Stack != nil {
			words = head
		}
	}
	payload.setText(words)
	payload.setStack(w.urls, d.Stack)
	at, early := w.times.fromWall(p.Timestamp, e, s)
	payload.BeforeAttachment = early
	w.emit(s, record.ClassException, record.Error, at, payload)
}
