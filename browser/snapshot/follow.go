package snapshot

import (
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/id"
)

var (
	_ session.Subsystem = (*Registry)(nil)
	_ target.Observer   = (*Registry)(nil)
)

// Begin implements session.Subsystem: the registry follows the pages to drop what it knows of closed ones.
func (r *Registry) Begin(session.Started) target.Observer { return r }

// End implements session.Subsystem. References stay known, so that they are stale rather than wrong.
func (r *Registry) End(id.Session) {}

// PageAttached implements target.Observer.
func (r *Registry) PageAttached(target.Page) {}

// PageDetached implements target.Observer: the page's references are stale from now on, also when it comes back.
func (r *Registry) PageDetached(p target.Page, _ bool) { r.Forget(p.ID) }
