package realtest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/evidence"
)

// TestEvidenceOutlivesTheBrowser asks about two sessions after they have ended, and about one that was deleted.
func TestEvidenceOutlivesTheBrowser(t *testing.T) {
	p := start(t)
	record := func() (answer, string) {
		p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
		clicked := p.do(t, "click", args{"query": "role=button name=Save"})
		p.do(t, "wait", args{"text": "PASS"})
		b := p.do(t, "temporal_debug_bundle", args{})
		return b, clicked.Envelope.Interaction.ID
	}
	first, click := record()
	p.do(t, "stop_browser", args{})
	again := p.do(t, "temporal_debug_bundle", args{"interaction_id": click})
	assert.Equal(t, first.Envelope.Range.StartNS, again.Envelope.Range.StartNS)
	byDefault := p.do(t, "temporal_debug_bundle", args{})
	assert.Equal(t, first.Envelope.Range.SessionID, byDefault.Envelope.Range.SessionID)
	for _, r := range again.Envelope.Resources {
		assert.NotEmpty(t, p.read(t, r.URI))
	}

	second, _ := record()
	require.NotEqual(t, first.Envelope.Range.SessionID, second.Envelope.Range.SessionID)
	r := first.Envelope.Range
	listed := p.do(t, "list_source_frames", args{"session_id": r.SessionID, "target": r.TargetID, "start_ns": r.StartNS, "end_ns": r.EndNS, "anchor_ns": r.AnchorNS})
	assert.Equal(t, *r.AnchorNS, *listed.Envelope.Range.AnchorNS, "a complete range is the same range")

	p.do(t, "delete_session", args{"session_id": r.SessionID})
	gone := p.ask(t, "measure_change", args{"range_handle": first.Envelope.RangeHandle})
	require.NotNil(t, gone.Envelope.Error, gone.Text)
	assert.Equal(t, "evidence_invalidated", string(gone.Envelope.Error.Code))
	p.do(t, "measure_change", args{"range_handle": second.Envelope.RangeHandle})
}

// TestDetailOnlyAddsIdentifiers compares the tiers of one bundle.
func TestDetailOnlyAddsIdentifiers(t *testing.T) {
	p := start(t)
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
	p.do(t, "click", args{"query": "role=button name=Save"})
	p.do(t, "wait", args{"text": "PASS"})
	concise := p.do(t, "temporal_debug_bundle", args{})
	expanded := p.do(t, "temporal_debug_bundle", args{"detail": "expanded"})
	full := p.do(t, "temporal_debug_bundle", args{"detail": "full", "inline_images": false})
	assert.Len(t, concise.Envelope.Resources, 2)
	assert.Len(t, expanded.Envelope.Resources, 6)
	assert.Len(t, concise.Images, 1)
	assert.Empty(t, full.Images)
	var counts struct {
		Omitted   int             `json:"omitted_outcomes"`
		Frames    int             `json:"omitted_source_frames"`
		Listed    json.RawMessage `json:"source_frames"`
		Available int             `json:"available_outcomes"`
	}
	concise.result(t, &counts)
	assert.Equal(t, 2, counts.Omitted)
	assert.Equal(t, 3, counts.Available)
	assert.Positive(t, counts.Frames)
	full.result(t, &counts)
	assert.Zero(t, counts.Frames)
	assert.Less(t, len(concise.Text), len(expanded.Text))
	assert.Less(t, len(concise.Text), 4096)
}

// TestCurrentGeometry puts the place of an element onto the frames.
func TestCurrentGeometry(t *testing.T) {
	p := start(t)
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
	p.do(t, "click", args{"query": "role=button name=Save"})
	p.do(t, "wait", args{"text": "PASS"})
	var found struct {
		Ref string `json:"ref"`
	}
	p.do(t, "query_page", args{"query": "role=button name=Save"}).result(t, &found)
	a := p.do(t, "generate_region_filmstrip", args{"ref": found.Ref})
	var strip evidence.FilmstripResult
	a.result(t, &strip)
	assert.Equal(t, "current_geometry", strip.Region.Method)
	assert.InDelta(t, 24, strip.Region.X, 2)
	assert.Len(t, a.Images, 1)
}
