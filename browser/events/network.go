package events

import (
	"math"
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// Stages of a request.
const (
	stageSent       = "sent"
	stageRedirected = "redirected"
	stageHeaders    = "headers"
	stageFinished   = "finished"
	stageFailed     = "failed"
	stageClosed     = "closed"
)

// requestPayload is the beginning of a request.
type requestPayload struct {
	Stage       string             `json:"stage"`
	RequestID   string             `json:"request_id"`
	Method      string             `json:"method,omitzero"`
	Kind        string             `json:"kind"`
	URL         *redact.URLSummary `json:"url,omitempty"`
	Context     string             `json:"context,omitzero"`
	Frame       string             `json:"frame,omitzero"` // child, for a frame below the main document
	Priority    string             `json:"priority,omitzero"`
	HasBody     bool               `json:"has_body,omitzero"`
	UserGesture bool               `json:"user_gesture,omitzero"`
	Initiator   *initiator         `json:"initiator,omitempty"`
	NavID       id.Navigation      `json:"nav_id,omitzero"`
}

type initiator struct {
	Type     string             `json:"type"`
	Function string             `json:"function,omitzero"`
	URL      *redact.URLSummary `json:"url,omitempty"`
	Line     int                `json:"line,omitzero"`
}

// responsePayload is a redirect, the arrival of headers, or the end of a body.
type responsePayload struct {
	Stage             string             `json:"stage"`
	RequestID         string             `json:"request_id"`
	Method            string             `json:"method,omitzero"`
	Kind              string             `json:"kind,omitzero"`
	URL               *redact.URLSummary `json:"url,omitempty"`
	Context           string             `json:"context,omitzero"`
	Status            int                `json:"status,omitzero"`
	MIMEType          string             `json:"mime_type,omitzero"`
	Protocol          string             `json:"protocol,omitzero"`
	FromCache         string             `json:"from_cache,omitzero"` // memory, disk or prefetch
	FromServiceWorker bool               `json:"from_service_worker,omitzero"`
	// EncodedBytes is what went over the wire so far.
	EncodedBytes int64 `json:"encoded_bytes,omitzero"`
	// DurationMS is since the request began.
	DurationMS float64 `json:"duration_ms,omitzero"`
	Timing     *timing `json:"timing,omitempty"`
}

// timing is in milliseconds; parts that did not happen are absent.
type timing struct {
	DNS     float64 `json:"dns_ms,omitzero"`
	Connect float64 `json:"connect_ms,omitzero"`
	TLS     float64 `json:"tls_ms,omitzero"`
	Send    float64 `json:"send_ms,omitzero"`
	Wait    float64 `json:"wait_ms,omitzero"`
}

// failedPayload is the failure of a request.
type failedPayload struct {
	Stage         string             `json:"stage"`
	RequestID     string             `json:"request_id"`
	Method        string             `json:"method,omitzero"`
	Kind          string             `json:"kind,omitzero"`
	URL           *redact.URLSummary `json:"url,omitempty"`
	Context       string             `json:"context,omitzero"`
	Error         string             `json:"error,omitzero"`
	Canceled      bool               `json:"canceled,omitzero"`
	BlockedReason string             `json:"blocked_reason,omitzero"`
	CORSError     string             `json:"cors_error,omitzero"`
	DurationMS    float64            `json:"duration_ms,omitzero"`
}

// wireResponse has no field for headers: they are never decoded.
type wireResponse struct {
	URL               string      `json:"url"`
	Status            int         `json:"status"`
	MIMEType          string      `json:"mimeType"`
	Protocol          string      `json:"protocol"`
	FromDiskCache     bool        `json:"fromDiskCache"`
	FromPrefetch      bool        `json:"fromPrefetchCache"`
	FromServiceWorker bool        `json:"fromServiceWorker"`
	EncodedBytes      float64     `json:"encodedDataLength"`
	Timing            *wireTiming `json:"timing"`
}

type wireTiming struct {
	DNSStart     float64 `json:"dnsStart"`
	DNSEnd       float64 `json:"dnsEnd"`
	ConnectStart float64 `json:"connectStart"`
	ConnectEnd   float64 `json:"connectEnd"`
	SSLStart     float64 `json:"sslStart"`
	SSLEnd       float64 `json:"sslEnd"`
	SendStart    float64 `json:"sendStart"`
	SendEnd      float64 `json:"sendEnd"`
	HeadersEnd   float64 `json:"receiveHeadersEnd"`
}

func (w *writer) requestWillBeSent(s *stream, e cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		LoaderID  string `json:"loaderId"`
		Request   struct {
			URL         string `json:"url"`
			Method      string `json:"method"`
			HasPostData bool   `json:"hasPostData"`
			Priority    string `json:"initialPriority"`
		} `json:"request"`
		Timestamp float64 `json:"timestamp"`
		WallTime  float64 `json:"wallTime"`
		Initiator struct {
			Type  string     `json:"type"`
			URL   string     `json:"url"`
			Line  float64    `json:"lineNumber"`
			Stack *wireStack `json:"stack"`
		} `json:"initiator"`
		Redirect *wireResponse `json:"redirectResponse"`
		Type     string        `json:"type"`
		Frame    string        `json:"frameId"`
		Gesture  bool          `json:"hasUserGesture"`
	}
	if !w.decode(e, &p) {
		return
	}
	w.times.calibrate(p.WallTime, p.Timestamp)
	at := w.times.fromMono(p.Timestamp, e, s)
	k := p.RequestID
	if p.Redirect != nil {
		w.response(s, k, stageRedirected, p.Timestamp, p.Redirect, at)
	}
	known := &inflight{
		target: s.target, at: at, method: redact.Method(p.Request.Method), kind: kindOf(p.Type), url: w.urls.summary(p.Request.URL),
		started: p.Timestamp, loader: p.LoaderID,
	}
	w.requests.add(k, known)
	payload := &requestPayload{
		Stage: stageSent, RequestID: requestID(p.RequestID), Method: known.method, Kind: known.kind, URL: known.url, Context: s.context,
		Frame: pick(s.childFrame(p.Frame), "child", ""), Priority: token(p.Request.Priority), HasBody: p.Request.HasPostData, UserGesture: p.Gesture,
		Initiator: &initiator{Type: token(p.Initiator.Type), URL: w.urls.summary(p.Initiator.URL)},
	}
	if p.Initiator.URL != "" && p.Initiator.Line > 0 {
		payload.Initiator.Line = int(p.Initiator.Line) + 1
	}
	if stack := p.Initiator.Stack; stack != nil && len(stack.Frames) > 0 {
		caller := stack.Frames[0]
		*payload.Initiator = initiator{
			Type: payload.Initiator.Type, Function: redact.Text(caller.Function, maxFunction), URL: w.urls.summary(caller.URL), Line: caller.Line + 1,
		}
	}
	if known.kind == "document" && p.RequestID == p.LoaderID {
		payload.NavID = s.navs.of(p.LoaderID)
	}
	w.emit(s, record.ClassRequest, record.Info, known.stage(at), payload)
}

func (w *writer) responseReceived(s *stream, e cdp.Event) {
	var p struct {
		RequestID string       `json:"requestId"`
		Timestamp float64      `json:"timestamp"`
		Type      string       `json:"type"`
		Response  wireResponse `json:"response"`
	}
	if !w.decode(e, &p) {
		return
	}
	k := p.RequestID
	known := w.requests.get(k)
	if known.kind == "" {
		known.kind = kindOf(p.Type)
	}
	w.response(s, k, stageHeaders, p.Timestamp, &p.Response, w.times.fromMono(p.Timestamp, e, s))
}

func (w *writer) response(s *stream, k, stage string, timestamp float64, r *wireResponse, at sessionTime) {
	known := w.requests.get(k)
	payload := &responsePayload{
		Stage: stage, RequestID: requestID(k), Method: known.method, Kind: known.kind, URL: w.urls.summary(r.URL), Context: s.context,
		Status: r.Status, MIMEType: mimeType(r.MIMEType), Protocol: protocol(r.Protocol), FromServiceWorker: r.FromServiceWorker,
		EncodedBytes: bytesOf(r.EncodedBytes), DurationMS: elapsed(known.started, timestamp), Timing: r.Timing.parts(),
	}
	switch {
	case known.fromCache:
		payload.FromCache = "memory"
	case r.FromDiskCache:
		payload.FromCache = "disk"
	case r.FromPrefetch:
		payload.FromCache = "prefetch"
	}
	w.emit(s, record.ClassResponse, statusSeverity(r.Status), known.stage(at), payload)
}

func (w *writer) servedFromCache(e cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
	}
	if w.decode(e, &p) {
		w.requests.get(p.RequestID).fromCache = true
	}
}

func (w *writer) loadingFinished(s *stream, e cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
		Bytes     float64 `json:"encodedDataLength"`
	}
	if !w.decode(e, &p) {
		return
	}
	if w.requests.failedBefore(p.RequestID) {
		return // the error page that took its place has been read
	}
	known := w.requests.get(p.RequestID)
	w.requests.end(p.RequestID)
	w.emit(s, record.ClassResponse, record.Debug, known.stage(w.times.fromMono(p.Timestamp, e, s)), &responsePayload{
		Stage: stageFinished, RequestID: requestID(p.RequestID), Method: known.method, Kind: known.kind, URL: known.url, Context: s.context,
		EncodedBytes: bytesOf(p.Bytes), DurationMS: elapsed(known.started, p.Timestamp),
	})
}

func (w *writer) loadingFailed(s *stream, e cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
		Type      string  `json:"type"`
		Error     string  `json:"errorText"`
		Canceled  bool    `json:"canceled"`
		Blocked   string  `json:"blockedReason"`
		CORS      *struct {
			Error string `json:"corsError"`
		} `json:"corsErrorStatus"`
	}
	if !w.decode(e, &p) {
		return
	}
	known := w.requests.get(p.RequestID)
	w.requests.fail(p.RequestID)
	payload := &failedPayload{
		Stage: stageFailed, RequestID: requestID(p.RequestID), Method: known.method, Kind: known.kind, URL: known.url, Context: s.context,
		Error: netError(p.Error), Canceled: p.Canceled, BlockedReason: token(p.Blocked), DurationMS: elapsed(known.started, p.Timestamp),
	}
	if payload.Kind == "" {
		payload.Kind = kindOf(p.Type)
	}
	if p.CORS != nil {
		payload.CORSError = token(p.CORS.Error)
	}
	severity := record.Error
	if p.Canceled {
		severity = record.Info
	}
	w.emit(s, record.ClassRequestFailed, severity, known.stage(w.times.fromMono(p.Timestamp, e, s)), payload)
}

func (t *wireTiming) parts() *timing {
	if t == nil {
		return nil
	}
	span := func(from, to float64) float64 {
		if from < 0 || to <= from {
			return 0
		}
		return millis(to - from)
	}
	return &timing{
		DNS: span(t.DNSStart, t.DNSEnd), Connect: span(t.ConnectStart, t.ConnectEnd), TLS: span(t.SSLStart, t.SSLEnd),
		Send: span(t.SendStart, t.SendEnd), Wait: span(t.SendEnd, t.HeadersEnd),
	}
}

// elapsed is the time between two readings in seconds, in milliseconds; 0 when the beginning is not known.
func elapsed(from, to float64) float64 {
	if from <= 0 || to <= from {
		return 0
	}
	return millis((to - from) * 1000)
}

func millis(ms float64) float64 { return math.Round(ms*1000) / 1000 }

func bytesOf(n float64) int64 {
	if n < 0 || n > math.MaxInt64/2 || math.IsNaN(n) {
		return 0
	}
	return int64(n)
}

func statusSeverity(status int) record.Severity {
	switch {
	case status >= 500:
		return record.Error
	case status >= 400:
		return record.Warning
	}
	return record.Info
}

func kindOf(resourceType string) string {
	if resourceType == "" {
		return "other"
	}
	return strings.ToLower(token(resourceType))
}

// mimeType keeps a media type without its parameters. It is the server's word, so its form is checked.
func mimeType(raw string) string {
	raw, _, _ = strings.Cut(raw, ";")
	raw = strings.ToLower(strings.TrimSpace(raw))
	family, _, _ := strings.Cut(raw, "/")
	switch family {
	case "":
		return ""
	case "application", "audio", "font", "image", "message", "model", "multipart", "text", "video":
		return token(raw)
	}
	return "other"
}

// protocol keeps the names of protocols that a browser loads from.
func protocol(raw string) string {
	switch raw {
	case "", "http/0.9", "http/1.0", "http/1.1", "h2", "h3", "h3-29", "ws", "wss", "data", "blob", "file", "about", "chrome", "chrome-extension":
		return raw
	}
	return "other"
}

// netError keeps Chrome's own error names.
func netError(raw string) string {
	if raw == "" || strings.HasPrefix(raw, "net::") {
		return token(raw)
	}
	return "other"
}
