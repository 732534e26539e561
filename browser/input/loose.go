package input

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// looseDrag is a drag that a dialog interrupted: the button is down, and when the dialog goes the page may still
// begin a drag that nobody would end. Until then drags stay intercepted.
type looseDrag struct {
	session     *page.Session
	intercepted *cdp.Subscription
	at          spot
}

// looseDrags has at most one drag for each page. Safe for concurrent use.
type looseDrags struct {
	mu   sync.Mutex
	list map[id.Target]*looseDrag
}

func (l *looseDrags) put(t id.Target, d *looseDrag) {
	l.mu.Lock()
	old := l.list[t]
	if l.list == nil {
		l.list = map[id.Target]*looseDrag{}
	}
	l.list[t] = d
	l.mu.Unlock()
	if old != nil {
		old.intercepted.Close()
	}
}

func (l *looseDrags) take(t id.Target) *looseDrag {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.list[t]
	delete(l.list, t)
	return d
}

// afterDialog bounds the wait for a drag that begins when its dialog goes.
const afterDialog = 500 * time.Millisecond

// end cancels the drag and lets the button up. What fails here is the page's state, which its observation shows.
func (d *looseDrag) end(ctx context.Context) {
	defer d.intercepted.Close()
	waiting, cancel := clock.WithTimeout(ctx, d.session.Clock().Clock(), afterDialog)
	defer cancel()
	select {
	case e := <-d.intercepted.Events():
		if data := dragged(e); data != nil {
			_ = dragEvent(ctx, d.session, "dragEnter", d.at, data)
			_ = dragEvent(ctx, d.session, "dragCancel", d.at, data)
		}
	case <-waiting.Done():
	}
	_ = pipeline(ctx, d.session, "Input.dispatchMouseEvent", []mouse{{Type: "mouseReleased", X: d.at.x, Y: d.at.y, Button: "left", ClickCount: 1}})
	_ = d.session.Post("Input.setInterceptDrags", map[string]any{"enabled": false})
}
