package events

import (
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/record"
)

// A web socket is one long request. What travels on it is a body and never looked at.

func (w *writer) webSocketCreated(s *stream, e cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		URL       string `json:"url"`
		Initiator struct {
			Type string `json:"type"`
		} `json:"initiator"`
	}
	if !w.decode(e, &p) {
		return
	}
	known := &inflight{target: s.target, kind: "websocket", url: w.urls.summary(p.URL)}
	w.requests.add(p.RequestID, known)
	w.emit(s, record.ClassRequest, record.Info, w.times.received(e), &requestPayload{
		Stage: stageSent, RequestID: requestID(p.RequestID), Kind: known.kind, URL: known.url, Context: s.context,
		Initiator: &initiator{Type: token(p.Initiator.Type)},
	})
}

func (w *writer) webSocketHandshake(s *stream, e cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
		Response  struct {
			Status int `json:"status"`
		} `json:"response"`
	}
	if !w.decode(e, &p) {
		return
	}
	known := w.requests.get(p.RequestID)
	known.started = p.Timestamp
	w.emit(s, record.ClassResponse, statusSeverity(p.Response.Status), w.times.fromMono(p.Timestamp, e, s), &responsePayload{
		Stage: stageHeaders, RequestID: requestID(p.RequestID), Kind: "websocket", URL: known.url, Context: s.context, Status: p.Response.Status,
	})
}

func (w *writer) webSocketClosed(s *stream, e cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
	}
	if !w.decode(e, &p) {
		return
	}
	known := w.requests.get(p.RequestID)
	w.requests.end(p.RequestID)
	w.emit(s, record.ClassResponse, record.Info, w.times.fromMono(p.Timestamp, e, s), &responsePayload{
		Stage: stageClosed, RequestID: requestID(p.RequestID), Kind: "websocket", URL: known.url, Context: s.context,
		DurationMS: elapsed(known.started, p.Timestamp),
	})
}

// webSocketError is a failed handshake or a broken frame. Its message is Chrome's, with parts of the peer's in it.
func (w *writer) webSocketError(s *stream, e cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
	}
	if !w.decode(e, &p) {
		return
	}
	known := w.requests.get(p.RequestID)
	w.emit(s, record.ClassRequestFailed, record.Error, w.times.fromMono(p.Timestamp, e, s), &failedPayload{
		Stage: stageFailed, RequestID: requestID(p.RequestID), Kind: "websocket", URL: known.url, Context: s.context, Error: "websocket_error",
		DurationMS: elapsed(known.started, p.Timestamp),
	})
}
