package input

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// Settle implements control.Driver: two animation frames, and the navigation that began, as far as asked.
func (d *Driver) Settle(ctx context.Context, _ control.Action, p control.Prepared) (control.Settled, error) {
	c, ok := p.(*call)
	if !ok || c.session == nil {
		return control.Settled{Rendezvous: true}, nil
	}
	if c.unproven != nil {
		return control.Settled{}, c.unproven
	}
	var s control.Settled
	s.Rendezvous, s.DialogOpen = d.rendezvous(ctx, c.session)
	if s.DialogOpen {
		s.Navigation = c.navigated()
		return s, nil
	}
	if c.opens {
		// A page that does not come is not this action's failure; postconditions tell what came.
		_, _ = d.Tabs.WaitForPage(ctx, core.WaitForPageRequest{After: c.before.pages, TimeoutMS: briefPage})
	}
	if s.Navigation = c.navigated(); s.Navigation == "" {
		return s, nil
	}
	if err := d.arrive(ctx, c); err != nil {
		return s, err
	}
	s.Rendezvous, s.DialogOpen = d.rendezvous(ctx, c.session)
	return s, nil
}

// navigated is the navigation that began since the action was resolved, "" when none did.
func (c *call) navigated() id.Navigation {
	n, ok := c.session.Navigation()
	if !ok || n.ID == c.before.navigation {
		return ""
	}
	return n.ID
}

// arrive waits for the document of a navigation: briefly, or to the end when that was asked for.
func (d *Driver) arrive(ctx context.Context, c *call) error {
	limit, state := briefNavigation, page.NavDOM
	if c.waitNavigation {
		limit, state = fullNavigation, page.NavComplete
	}
	var err error
	bounded(ctx, c, limit, func(ctx context.Context) {
		_, err = c.session.AwaitNavigation(ctx, func(n page.Navigation) bool {
			return n.Reached(state) || dialogOpen(c.session)
		})
	})
	if err != nil && c.waitNavigation && errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.NavigationFailed, "the navigation that the action began did not finish in %d s", int(limit/time.Second)).
			WithRecovery("wait navigation=complete, or snapshot_page")
	}
	return nil
}

func bounded(ctx context.Context, c *call, limit time.Duration, f func(context.Context)) {
	ctx, cancel := clock.WithTimeout(ctx, c.session.Clock().Clock(), limit)
	defer cancel()
	f(ctx)
}

func dialogOpen(s *page.Session) bool {
	open, _ := s.Dialog()
	return open != nil
}

// rendezvous waits for two animation frames of the main document.
func (d *Driver) rendezvous(ctx context.Context, s *page.Session) (seen, dialog bool) {
	if dialogOpen(s) {
		return false, true
	}
	end := s.Observing("rendezvous")
	defer end()
	for range 2 {
		doc, err := d.Snapshots.Document(ctx, s, "")
		if err == nil {
			err = doc.CallWithin(ctx, rendezvousLimit, nil, "rendezvous")
		}
		if err == nil {
			return true, false
		}
		if fault.CodeOf(err) == fault.DialogOpen {
			return false, true
		}
		if !errors.Is(err, snapshot.ErrGone) {
			return false, dialogOpen(s)
		}
	}
	return false, dialogOpen(s)
}
