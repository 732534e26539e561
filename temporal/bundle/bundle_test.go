package bundle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png" // artifacts are PNG
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/bundle"
	"github.com/krometrail/krometrail/temporal/eventquery"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/visual/visualtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	page    = id.Target("tgt_000000000001")
	// shown is when the first generated frame was presented.
	shown = clock.SessionTime(10 * time.Second)
)

type ended struct{}

func (ended) Running() (id.Session, clock.Session, id.Target, bool) {
	return "", clock.Session{}, "", false
}
func (ended) Lag(id.Target) time.Duration { return 0 }
func (ended) Recording() bool             { return false }

type bench struct {
	store    *coretest.Store
	bundles  *bundle.Service
	sequence *visualtest.Sequence
}

// newBench stores a generated sequence as a page's recording, with a click at its anchor.
func newBench(t *testing.T, spec visualtest.Spec) *bench {
	t.Helper()
	generated, err := visualtest.Generate(t.Context(), spec, visualtest.Options{Width: 640, Height: 360})
	require.NoError(t, err)
	b := &bench{store: coretest.NewStore(), sequence: generated}
	clicked := shown + clock.SessionTime(generated.AnchorTime)
	last := shown + clock.SessionTime(generated.Frames[len(generated.Frames)-1].Time)
	require.NoError(t, b.store.Put(t.Context(),
		record.Session{ID: session, LastSelected: page, EndedNS: &last, Capture: record.CaptureConfig{EveryNthFrame: 1, Size: "balanced"}},
		record.Target{ID: page, SessionID: session},
		record.Interaction{ID: "int_000000000001", SessionID: session, TargetID: page, Operation: "fill", DispatchedNS: clicked - 5e9, PageAffecting: true},
		record.Interaction{ID: "int_000000000002", SessionID: session, TargetID: page, Operation: "click", DispatchedNS: clicked, PageAffecting: true},
	))
	for i, f := range generated.Frames {
		at := shown + clock.SessionTime(f.Time)
		b.store.AddFrame(record.Frame{
			ID: frameID(i), SessionID: session, TargetID: page, Ordinal: uint64(i + 1), PresentedNS: &at, ReceivedNS: at + 80e6,
			Format: "jpeg", Width: generated.Width, Height: generated.Height,
		}, f.JPEG)
	}
	c := coretest.NewClock(time.Unix(0, 0))
	resolver := resolve.New(b.store, b.store, b.store, ended{})
	artifacts := artifact.New(b.store, b.store, b.store, ended{}, c, slog.New(slog.DiscardHandler))
	events := eventquery.New(b.store, b.store, resolver)
	b.bundles = bundle.New(resolver, sequence.NewReader(b.store, b.store), b.store, artifacts, events, c)
	return b
}

func frameID(i int) id.Frame { return id.Frame(fmt.Sprintf("frm_%012d", i)) }

func (b *bench) ask(t *testing.T, r evidence.BundleRequest) (capability.Outcome, evidence.Bundle) {
	t.Helper()
	out, err := b.bundles.Bundle(t.Context(), &r)
	require.NoError(t, err)
	return out, out.Result.(evidence.Bundle)
}

func after(ms int) evidence.BundleRequest {
	return evidence.BundleRequest{Anchor: evidence.Anchor{AfterMS: &ms}}
}

func TestTheWrongStateIsInTheStoryboardAndUnderTheMap(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Seed: 7})
	out, got := b.ask(t, after(1000))
	require.Empty(t, got.Failed)
	board := got.Artifacts[0]
	require.Equal(t, evidence.Storyboard, board.Kind)
	shownWrong := false
	for _, tile := range board.Tiles {
		for i, truth := range b.sequence.Truth {
			shownWrong = shownWrong || truth.Defect && tile.FrameID == frameID(i)
		}
	}
	assert.True(t, shownWrong, "no tile shows the wrong state: %+v", board.Tiles)
	covered := image.Rectangle{}
	for _, r := range got.Measure.Regions {
		covered = covered.Union(image.Rect(r.X, r.Y, r.X+r.Width, r.Y+r.Height))
	}
	assert.True(t, covered.Overlaps(b.sequence.Where), "regions %v, wrong state at %v", covered, b.sequence.Where)
	require.Len(t, out.Pictures, 1)
	raw, err := out.Pictures[0].Load(t.Context())
	require.NoError(t, err)
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.Equal(t, out.Pictures[0].Width, config.Width)
	assert.LessOrEqual(t, config.Width, 1568)
}

func TestTheHeaderNamesTheActionAndTheOnesBefore(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flicker, Duration: 3, Seed: 3})
	_, got := b.ask(t, after(1000))
	assert.Contains(t, got.Header, "about click int_000000000002 after fill int_000000000001")
	assert.Regexp(t, `\d+ regions changed; first \+\d+ ms; peak \+\d+ ms \(\d+\.\d % of the picture\); last \+\d+ ms; \d+ frames, 0 gaps, lag p50 80 ms`, got.Header)
	assert.LessOrEqual(t, len(got.Header), 512)
}

func TestEqualQuestionsShareOnePicture(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flicker, Duration: 3, Seed: 3})
	_, first := b.ask(t, after(500))
	_, second := b.ask(t, after(500))
	assert.Equal(t, "generated", first.Artifacts[0].Cache)
	assert.Equal(t, "hit", second.Artifacts[0].Cache)
	assert.Equal(t, first.Artifacts[0].Artifact.ID, second.Artifacts[0].Artifact.ID)
	_, other := b.ask(t, after(600))
	assert.NotEqual(t, first.Artifacts[0].Artifact.ID, other.Artifacts[0].Artifact.ID)
}

func TestTheManifestNamesItsSources(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.LayoutShift, Duration: 1, Seed: 5})
	_, got := b.ask(t, after(300))
	raw, err := b.store.ReadManifest(t.Context(), got.Artifacts[0].Artifact.ID)
	require.NoError(t, err)
	var m artifact.Manifest
	require.NoError(t, json.Unmarshal(raw, &m))
	assert.Equal(t, got.SourceFrames, m.SourceFrames)
	assert.Equal(t, got.Quality.CarryIn, m.CarryIn)
	assert.NotContains(t, m.SourceFrames, m.CarryIn, "the baseline is not a source frame")
	assert.Equal(t, len(m.Visual.Source)-len(m.Visual.Analyzed), m.Visual.Omitted)
	assert.Equal(t, got.Artifacts[0].Artifact.SHA256, m.Visual.Output.SHA256)
	assert.Equal(t, 1, m.Capture.EveryNthFrame)
}

func TestComponentsFailAlone(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flicker, Duration: 3, Seed: 3})
	b.store.Fail = func(method string) error {
		if method == "PublishArtifact" {
			return fault.New(fault.BudgetExhausted, "full")
		}
		return nil
	}
	out, got := b.ask(t, after(500))
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.BudgetExhausted, out.Err.Code)
	assert.NotEmpty(t, got.Failed)
	assert.NotNil(t, got.Measure, "what could be learned is still there")
	assert.NotEmpty(t, got.SourceFrames)
	assert.Empty(t, out.Pictures)
}

func TestEvictionDuringGenerationIsSaidAndLeavesNothing(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flicker, Duration: 3, Seed: 3})
	b.store.Fail = func(method string) error {
		if method == "Pixels" {
			return fault.New(fault.EvidenceInvalidated, "evicted")
		}
		return nil
	}
	out, got := b.ask(t, after(500))
	assert.Equal(t, capability.Degraded, out.Status)
	for _, a := range got.Artifacts {
		require.NotNil(t, a.Error)
		assert.Equal(t, fault.EvidenceInvalidated, a.Error.Code)
	}
	_, found, err := b.store.FindArtifact(context.Background(), "")
	require.NoError(t, err)
	assert.False(t, found)
}

func TestASmoothPageGetsNoEventLabel(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.PanelControl, Seed: 11})
	_, got := b.ask(t, after(1000))
	for _, tile := range got.Artifacts[0].Tiles {
		assert.NotContains(t, tile.Reasons, "return_candidate")
		assert.NotContains(t, tile.Reasons, "excursion")
	}
}

func TestTheNearestEventsPreferFailuresAndAreInTimeOrder(t *testing.T) {
	b := newBench(t, visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Seed: 7})
	clicked := shown + clock.SessionTime(b.sequence.AnchorTime)
	var events []record.Event
	for i := range 60 {
		events = append(events, record.Event{
			SessionID: session, TargetID: page, Source: "browser", Sequence: uint64(i + 1), AtNS: clicked + clock.SessionTime(i)*1e6,
			Class: record.ClassConsole, Severity: record.Info, Payload: json.RawMessage(`{"text":"line"}`),
		})
	}
	events[59].Class, events[59].Severity = record.ClassException, record.Error
	events[59].Payload = json.RawMessage(`{"text":"Boom"}`)
	require.NoError(t, b.store.AppendEvents(t.Context(), events))
	_, got := b.ask(t, after(500))
	require.Len(t, got.Events, 24)
	assert.Equal(t, 36, got.EventsOmitted)
	assert.Equal(t, "Boom", got.Events[23].Text)
	for i := 1; i < len(got.Events); i++ {
		assert.LessOrEqual(t, got.Events[i-1].AtNS, got.Events[i].AtNS)
	}
}
