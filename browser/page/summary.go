package page

import "github.com/krometrail/krometrail/core/redact"

// Summarize is what may be kept of an address, with the session's own key: equal addresses have equal summaries
// within the session.
func (s *Session) Summarize(url string) redact.URLSummary { return redact.Summarize(url, s.urls) }
