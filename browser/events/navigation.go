package events

import (
	"sync"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// rememberedNavs is how many navigations of a page are found by their document's loader.
const rememberedNavs = 32

// navigations remembers which navigation loaded which document.
type navigations struct {
	mu     sync.Mutex
	recent []loaded
}

type loaded struct {
	loader string
	id     id.Navigation
}

func (n *navigations) remember(v page.Navigation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if v.Loader == "" || len(n.recent) > 0 && n.recent[len(n.recent)-1] == (loaded{v.Loader, v.ID}) {
		return
	}
	if len(n.recent) == rememberedNavs {
		n.recent = append([]loaded(nil), n.recent[1:]...)
	}
	n.recent = append(n.recent, loaded{v.Loader, v.ID})
}

// of finds the navigation that loaded a document.
func (n *navigations) of(loader string) id.Navigation {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.recent {
		if l.loader == loader {
			return l.id
		}
	}
	return ""
}

// navigationPayload is one state of a navigation; the milestones after its commit are lifecycle events.
type navigationPayload struct {
	NavID id.Navigation      `json:"nav_id"`
	State string             `json:"state"`
	Kind  string             `json:"kind"`
	URL   *redact.URLSummary `json:"url,omitempty"`
}

// onNavigation is told of every new state of the page's navigations.
func (r *Recorder) onNavigation(s *stream, v page.Navigation) {
	s.navs.remember(v)
	severity := record.Info
	switch v.State {
	case page.NavFailed:
		severity = record.Warning
	case page.NavDOM:
		return
	case page.NavComplete:
		if v.Kind != "same_document" {
			return
		}
	}
	at := r.config.Clock.Now()
	summary := redact.Summarize(v.Address, r.config.Key)
	r.queue.offer(item{stream: s, made: &made{
		class: record.ClassNavigation, severity: severity, at: stateTime(v, at),
		payload: &navigationPayload{NavID: v.ID, State: v.State, Kind: v.Kind, URL: &summary},
	}}, at, true)
}

func stateTime(v page.Navigation, now clock.SessionTime) clock.SessionTime {
	switch {
	case v.State == page.NavStarted:
		return v.StartNS
	case v.State != page.NavFailed && v.CommitNS != nil:
		return *v.CommitNS
	}
	return now
}
