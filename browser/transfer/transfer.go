package transfer

import (
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/snapshot"
)

// Transfers does the moving. Safe for concurrent use.
type Transfers struct {
	*Downloads
	pages     observe.Pages
	snapshots *snapshot.Registry
}

// New returns the transfers of a session's pages.
func New(p observe.Pages, s *snapshot.Registry, d *Downloads) *Transfers {
	return &Transfers{Downloads: d, pages: p, snapshots: s}
}
