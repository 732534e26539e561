package events

import "github.com/krometrail/krometrail/core/redact"

const (
	cachedURLs   = 512
	cachedURLLen = 2048
)

// urls summarizes URLs and remembers the last ones: stacks name the same scripts again and again.
type urls struct {
	key   *redact.Key
	cache map[string]*redact.URLSummary
}

func newURLs(key *redact.Key) *urls {
	return &urls{key: key, cache: make(map[string]*redact.URLSummary, cachedURLs)}
}

// summary is shared and must not be changed; nil for no URL.
func (u *urls) summary(raw string) *redact.URLSummary {
	if raw == "" {
		return nil
	}
	if s := u.cache[raw]; s != nil {
		return s
	}
	s := redact.Summarize(raw, u.key)
	if len(raw) <= cachedURLLen {
		if len(u.cache) >= cachedURLs {
			clear(u.cache)
		}
		u.cache[raw] = &s
	}
	return &s
}
