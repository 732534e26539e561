package transfer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// Bounds of a session's downloads.
const (
	maxDownloads = 32 // files kept or arriving
	maxFile      = 64 << 20
	maxRows      = 256 // inventory, with those that left no file
	maxName      = 120
)

// Reasons to stop a download, as the agent reads them.
const (
	tooMany  = "a session keeps 32 downloaded files; a new browser session starts afresh"
	tooLarge = "files above 64 MiB are not kept"
)

// States of a download.
const (
	inProgress = "in_progress"
	complete   = "complete"
	aborted    = "cancelled"
	failed     = "failed"
)

// Downloads observes the downloads of one managed session from its start. It implements session.Subsystem. Safe for
// concurrent use.
type Downloads struct {
	root string
	log  *slog.Logger

	mu      sync.Mutex
	session id.Session
	managed bool
	dir     string
	browser *page.Browser
	clock   clock.Clock
	key     string
	rows    []*download
	changed chan struct{}
	taps    []*cdp.Subscription
	// unlisted counts what came when the inventory was full.
	unlisted int
}

type download struct {
	core.Download
	guid string
}

var _ session.Subsystem = (*Downloads)(nil)

// NewDownloads keeps downloaded files below root, one folder for each session, until the session ends.
func NewDownloads(root string, log *slog.Logger) *Downloads {
	return &Downloads{root: root, log: log, changed: make(chan struct{})}
}

// Begin implements session.Subsystem. No setting of a browser that this program did not start is touched.
func (d *Downloads) Begin(s session.Started) target.Observer {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.untap()
	if d.session != s.Session {
		d.reset(s)
	}
	d.browser, d.clock, d.managed = s.Browser, s.Clock.Clock(), s.Managed
	if !s.Managed {
		return nil
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		d.log.Warn("downloads cannot be kept", "error", err)
		d.managed = false
		return nil
	}
	client := s.Browser.Client()
	d.taps = append(d.taps, client.Tap("", d.on, "Browser.downloadWillBegin", "Browser.downloadProgress"))
	err := client.StartFunc("", "Browser.setDownloadBehavior", map[string]any{
		"behavior": "allowAndName", "downloadPath": d.dir, "eventsEnabled": true,
	}, func(_ []byte, err error) {
		if err != nil {
			d.log.Warn("downloads are not observed", "error", err)
		}
	})
	if err != nil {
		d.log.Warn("downloads are not observed", "error", err)
	}
	return nil
}

func (d *Downloads) reset(s session.Started) {
	d.remove()
	var raw [3]byte
	_, _ = rand.Read(raw[:])
	d.session, d.key, d.rows, d.unlisted = s.Session, hex.EncodeToString(raw[:]), nil, 0
	d.dir = filepath.Join(d.root, string(s.Session))
	d.wake()
}

// End implements session.Subsystem: the files go with their session.
func (d *Downloads) End(s id.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != s {
		return
	}
	d.untap()
	d.remove()
	d.session, d.browser, d.rows, d.managed = "", nil, nil, false
	d.wake()
}

func (d *Downloads) untap() {
	for _, t := range d.taps {
		t.Close()
	}
	d.taps = nil
}

func (d *Downloads) remove() {
	if d.dir == "" {
		return
	}
	if err := os.RemoveAll(d.dir); err != nil {
		d.log.Warn("downloaded files were not removed", "error", err)
	}
	d.dir = ""
}

func (d *Downloads) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Managed reports whether the running browser was started by this program.
func (d *Downloads) Managed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.managed
}

// DownloadCursor anchors a wait for downloads at this moment; never empty.
func (d *Downloads) DownloadCursor() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursor(len(d.rows))
}

func (d *Downloads) cursor(n int) string { return "downloads-" + d.key + "-" + strconv.Itoa(n) }

func (d *Downloads) parse(cursor string) (int, error) {
	digits, ok := strings.CutPrefix(cursor, "downloads-"+d.key+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 {
		return 0, fault.Input("after", "a cursor from list_downloads or a downloads postcondition of this session")
	}
	return n, nil
}

// DownloadsSince lists the downloads that began after a cursor.
func (d *Downloads) DownloadsSince(cursor string) []id.Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.parse(cursor)
	if err != nil || n >= len(d.rows) {
		return nil
	}
	var list []id.Download
	for _, r := range d.rows[n:] {
		list = append(list, r.ID)
	}
	return list
}

// Downloads lists the session's downloads.
func (d *Downloads) Downloads(context.Context) (core.ListDownloadsResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.listing()
	if err := d.usable(); err != nil {
		return out, err
	}
	for _, r := range d.rows {
		out.Downloads = append(out.Downloads, r.Download)
	}
	return out, nil
}

// listing is an answer without its rows.
func (d *Downloads) listing() core.ListDownloadsResult {
	return core.ListDownloadsResult{Cursor: d.cursor(len(d.rows)), Downloads: []core.Download{}, Unlisted: d.unlisted}
}

func (d *Downloads) usable() error {
	switch {
	case d.session == "":
		return fault.New(fault.InvalidLifecycleTransition, "no browser session is running").WithRetry(fault.AfterRecovery).WithRecovery("start_browser first")
	case !d.managed:
		return fault.New(fault.Unsupported, "downloads of an attached browser are not observed").WithRecovery("start_browser runs a managed browser")
	}
	return nil
}

// WaitForDownload waits for a download that began after the cursor.
func (d *Downloads) WaitForDownload(ctx context.Context, r core.WaitForDownloadRequest) (core.ListDownloadsResult, error) {
	if err := r.Validate(); err != nil {
		return core.ListDownloadsResult{}, err
	}
	d.mu.Lock()
	c, err := d.clock, d.usable()
	after := 0
	if err == nil {
		after, err = d.parse(r.After)
	}
	d.mu.Unlock()
	if err != nil {
		return core.ListDownloadsResult{}, err
	}
	bounded, cancel := clock.WithTimeout(ctx, c, time.Duration(r.TimeoutMS)*time.Millisecond)
	defer cancel()
	for {
		out, met, changed := d.look(after, &r)
		if met {
			return out, nil
		}
		select {
		case <-changed:
		case <-bounded.Done():
			return out, waitFault(ctx, r)
		}
	}
}

func waitFault(ctx context.Context, r core.WaitForDownloadRequest) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fault.New(fault.Cancelled, "the wait was cancelled")
	}
	return fault.New(fault.WaitTimedOut, "no such download within %d ms", r.TimeoutMS).WithRecovery("list_downloads shows what there is")
}

func (d *Downloads) look(after int, r *core.WaitForDownloadRequest) (out core.ListDownloadsResult, met bool, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out = d.listing()
	for i, row := range d.rows {
		if i < after || (r.DownloadID != "" && row.ID != r.DownloadID) {
			continue
		}
		out.Downloads = append(out.Downloads, row.Download)
		met = met || !r.Ended() || row.State != inProgress
	}
	return out, met, d.changed
}

// CancelDownload implements input.Transfers.
func (d *Downloads) CancelDownload(ctx context.Context, r *core.CancelDownloadRequest, sending func()) (core.CancelDownloadResult, error) {
	d.mu.Lock()
	row, browser, err := d.find(r.DownloadID), d.browser, d.usable()
	d.mu.Unlock()
	if err != nil {
		return core.CancelDownloadResult{}, err
	}
	if row == nil {
		return core.CancelDownloadResult{}, unknownDownload()
	}
	sending()
	if state := d.state(row); state != inProgress {
		return core.CancelDownloadResult{ID: r.DownloadID, State: state}, nil
	}
	if err := browser.Send(ctx, "Browser.cancelDownload", map[string]any{"guid": row.guid}, nil); err != nil {
		return core.CancelDownloadResult{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if row.State == inProgress {
		row.State = aborted
		d.wake()
	}
	return core.CancelDownloadResult{ID: r.DownloadID, State: row.State}, nil
}

func unknownDownload() error {
	return fault.New(fault.NotFound, "the session has no such download").WithRecovery("list_downloads shows what there is")
}

func (d *Downloads) state(row *download) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return row.State
}

func (d *Downloads) find(name id.Download) *download {
	for _, r := range d.rows {
		if r.ID == name {
			return r
		}
	}
	return nil
}

// File is a completed download for reading. The session must still run.
func (d *Downloads) File(s id.Session, name id.Download) (core.Download, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	row := d.find(name)
	if d.session != s || row == nil || row.State != complete {
		return core.Download{}, unknownDownload()
	}
	return row.Download, nil
}
