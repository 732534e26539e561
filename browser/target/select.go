package target

import (
	"context"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// maxRecent bounds the remembered selections.
const maxRecent = 64

// Select makes a page the selected one and returns the previous selection. The browser is not touched.
func (r *Registry) Select(t id.Target) (previous id.Target, err error) {
	err = notOpen(t)
	r.do(func() {
		for _, e := range r.pages {
			if e.ID == t {
				previous, err = r.selected, nil
				r.choose(t)
				r.changed()
				return
			}
		}
	})
	return previous, err
}

func notOpen(t id.Target) error {
	return fault.New(fault.NotFound, "no open page has this target").
		WithRecovery("list_pages shows the open pages").About(fault.Context{TargetID: t})
}

func (r *Registry) choose(t id.Target) {
	r.selected = t
	r.recent = append(without(r.recent, t), t)
	if len(r.recent) > maxRecent {
		r.recent = r.recent[1:]
	}
	if t != "" {
		r.last = t
	}
}

// forget hands the selection of a closed page to its live opener, else to the most recently selected page, else
// to the newest one.
func (r *Registry) forget(gone *entry) {
	r.recent = without(r.recent, gone.ID)
	if r.selected != gone.ID {
		return
	}
	r.selected = ""
	switch {
	case gone.Opener != "" && r.open(gone.Opener):
		r.choose(gone.Opener)
	case len(r.recent) > 0:
		r.choose(r.recent[len(r.recent)-1])
	case len(r.pages) > 0:
		r.choose(r.pages[len(r.pages)-1].ID)
	}
}

func (r *Registry) open(t id.Target) bool {
	for _, e := range r.pages {
		if e.ID == t {
			return true
		}
	}
	return false
}

func without(list []id.Target, t id.Target) []id.Target {
	kept := make([]id.Target, 0, len(list)+1)
	for _, other := range list {
		if other != t {
			kept = append(kept, other)
		}
	}
	return kept
}

// Refresh asks the browser for the present addresses and titles: it tells of new addresses by itself, but not of every
// new title. It never waits for a page.
func (r *Registry) Refresh(ctx context.Context) error {
	infos, err := r.list(ctx)
	if err != nil {
		return err
	}
	r.do(func() {
		for _, i := range infos {
			r.infoChanged(i)
		}
	})
	return nil
}

// Listed asks the browser how many pages it has, attached to or not.
func (r *Registry) Listed(ctx context.Context) (int, error) {
	infos, err := r.list(ctx)
	return len(infos), err
}

func (r *Registry) list(ctx context.Context) ([]info, error) {
	var list struct {
		Infos []info `json:"targetInfos"`
	}
	err := r.config.Browser.Send(ctx, "Target.getTargets", map[string]any{"filter": pageFilter}, &list)
	return list.Infos, err
}

// DropMissing removes inherited pages that the browser no longer has. live names the browser's targets.
func (r *Registry) DropMissing(live map[string]bool) {
	r.do(func() {
		for _, e := range append([]*entry(nil), r.pages...) {
			if e.known && !live[e.CDPTarget] {
				r.remove(e)
			}
		}
	})
}
