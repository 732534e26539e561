package realtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/operations"
)

func (p *program) pins(t *testing.T, arguments args) []operations.PinRow {
	t.Helper()
	var list operations.PinList
	p.do(t, "query_pins", arguments).result(t, &list)
	return list.Pins
}

func (p *program) retention(t *testing.T) record.RetentionStatus {
	t.Helper()
	var status page.Status
	p.do(t, "browser_status", args{}).result(t, &status)
	require.NotNil(t, status.Retention)
	return *status.Retention
}

func (p *program) sessions(t *testing.T) []control.SessionRow {
	t.Helper()
	var list control.SessionList
	p.do(t, "list_sessions", args{}).result(t, &list)
	return list.Sessions
}

// TestKeepingAndDeleting pins a recorded range, releases it, and deletes a session with what is pinned of it.
func TestKeepingAndDeleting(t *testing.T) {
	p := start(t)
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
	p.do(t, "click", args{"query": "role=button name=Save"})
	p.do(t, "wait", args{"text": "PASS"})
	made := p.do(t, "temporal_debug_bundle", args{})
	handle := args{"range_handle": made.Envelope.RangeHandle}

	assert.Empty(t, p.pins(t, args{}))
	var pinned, again record.PinResult
	p.do(t, "pin_range", handle).result(t, &pinned)
	assert.True(t, pinned.Changed)
	assert.Positive(t, pinned.Segments)
	p.do(t, "pin_range", handle).result(t, &again)
	assert.False(t, again.Changed, "pinning twice is pinning once")
	for _, arguments := range []args{{}, handle} {
		pins := p.pins(t, arguments)
		require.Len(t, pins, 1)
		assert.Equal(t, made.Envelope.Range.SessionID, pins[0].SessionID)
		assert.Equal(t, int64(made.Envelope.Range.EndNS), pins[0].EndNS)
	}
	status := p.retention(t)
	assert.Positive(t, status.PinnedBytes)
	assert.GreaterOrEqual(t, status.UsedBytes, status.PinnedBytes)
	assert.Equal(t, int64(10_000_000_000), status.BudgetBytes)
	assert.Equal(t, status.BudgetBytes, status.ShareBytes)
	assert.Equal(t, "proved", status.CountSource)
	require.NotNil(t, status.OldestAt)
	require.NotNil(t, status.NewestAt)
	assert.Nil(t, status.Failure)

	var released record.PinResult
	p.do(t, "unpin_range", handle).result(t, &released)
	assert.True(t, released.Changed)
	assert.Empty(t, p.pins(t, args{}))
	assert.Zero(t, p.retention(t).PinnedBytes)
	p.do(t, "unpin_range", handle).result(t, &released)
	assert.False(t, released.Changed)
	p.do(t, "pin_range", handle)

	p.do(t, "stop_browser", args{})
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
	listed := p.sessions(t)
	require.Len(t, listed, 2)
	states := map[string]control.SessionRow{}
	for _, s := range listed {
		states[s.State] = s
	}
	old := states["ended"]
	require.Equal(t, made.Envelope.Range.SessionID, old.SessionID)
	assert.Contains(t, states, "running")
	assert.Positive(t, old.Frames)
	assert.Positive(t, old.Bytes)

	var gone control.DeleteResult
	p.do(t, "delete_session", args{"session_id": old.SessionID}).result(t, &gone)
	assert.Equal(t, old.Frames, gone.Frames)
	assert.Equal(t, old.Events, gone.Events)
	assert.Equal(t, 1, gone.Pins)
	assert.Positive(t, gone.Artifacts)
	assert.Positive(t, gone.Bytes)
	assert.Len(t, p.sessions(t), 1)
	assert.Empty(t, p.pins(t, args{}))
	for _, r := range made.Envelope.Resources {
		_, err := p.ReadResource(t.Context(), r.URI)
		assert.Error(t, err, "%s is gone", r.Role)
	}
	twice := p.ask(t, "delete_session", args{"session_id": old.SessionID})
	require.NotNil(t, twice.Envelope.Error)
	assert.Equal(t, "not_found", string(twice.Envelope.Error.Code))
}
