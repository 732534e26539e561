package operations_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

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
	"github.com/krometrail/krometrail/temporal/operations"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
)

var update = flag.Bool("update", false, "rewrite the answers")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a timeline with everything that answers questions about it.
type world struct {
	t       *testing.T
	store   *coretest.Store
	clock   *coretest.Clock
	session clock.Session
	running bool
	frames  uint64
	ops     map[string]capability.Op
	names   map[string]string // issued identifiers by the word that stands for them
	boxes   map[string]evidence.Box
}

func (w *world) Running() (id.Session, clock.Session, id.Target, bool) {
	return "ses_000000000001", w.session, "tgt_000000000001", w.running
}
func (*world) Lag(id.Target) time.Duration { return 0 }
func (*world) Recording() bool             { return false }

// Box implements evidence.Geometry.
func (w *world) Box(_ context.Context, ref string) (evidence.Box, error) {
	b, ok := w.boxes[ref]
	if !ok {
		return b, fault.New(fault.StaleReference, "%s names a node that is gone", ref).WithRecovery("take a new snapshot")
	}
	return b, nil
}

// noPins keeps no pins; the store in memory has none.
type noPins struct{}

func (noPins) Pin(context.Context, record.Window) (record.PinResult, error) {
	return record.PinResult{Changed: true}, nil
}

func (noPins) Unpin(context.Context, record.Window) (record.PinResult, error) {
	return record.PinResult{Changed: true}, nil
}
func (noPins) Pins(context.Context, *record.Window) ([]record.Pin, error) { return nil, nil }

func newWorld(t *testing.T) *world {
	c := coretest.NewClock(time.Unix(1000, 0).UTC())
	w := &world{t: t, store: coretest.NewStore(), clock: c, session: clock.Begin(c), ops: map[string]capability.Op{}, names: map[string]string{}, boxes: map[string]evidence.Box{}}
	resolver := resolve.New(w.store, w.store, w.store, w)
	reader := sequence.NewReader(w.store, w.store)
	artifacts := artifact.New(w.store, w.store, w.store, w, clock.System(), slog.New(slog.DiscardHandler))
	events := eventquery.New(w.store, w.store, resolver)
	o := operations.Operations{
		Resolver: resolver, Reader: reader, Artifacts: artifacts, Bundles: bundle.New(resolver, reader, w.store, artifacts, events, clock.System()),
		Frames: w.store, Store: w.store, Facts: w.store, Pins: noPins{}, Running: w, Geometry: w,
	}
	for _, op := range append(o.Ops(), events.Op()) {
		w.ops[op.Name] = op
	}
	return w
}

func ns(text string) clock.SessionTime {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return clock.SessionTime(d)
}

func until(text string) *clock.SessionTime {
	if text == "" {
		return nil
	}
	at := ns(text)
	return &at
}

// play puts one line of a timeline into the store.
func (w *world) play(line string) {
	words := strings.Fields(line)
	arg := map[string]string{}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		arg[name] = value
	}
	put := func(f record.Fact) { require.NoError(w.t, w.store.Put(w.t.Context(), f)) }
	session, target := id.Session("ses_000000000001"), id.Target("tgt_000000000001")
	if arg["page"] != "" {
		target = id.Target("tgt_00000000000" + arg["page"])
	}
	switch words[0] {
	case "session":
		put(record.Session{ID: session, LastSelected: target, EndedNS: until(arg["ended"]), Capture: record.CaptureConfig{EveryNthFrame: 1, Size: "balanced", Format: "png"}})
		put(record.Target{ID: target, SessionID: session})
		put(record.ClockSample{SessionID: session, WallNS: time.Unix(1000, 0).UnixNano()})
		w.running = arg["ended"] == ""
	case "page":
		put(record.Target{ID: target, SessionID: session, ClosedNS: until(arg["closed"])})
	case "now":
		w.clock.Advance(ns(words[1]).Duration())
	case "frame":
		w.frame(session, target, arg)
	case "gap":
		put(record.Gap{ID: "gap_000000000001", SessionID: session, TargetID: target, Reason: record.GapReason(arg["reason"]), StartNS: ns(arg["start"]), EndNS: until(arg["end"]), Stream: record.StreamFrames})
	case "interaction":
		put(record.Interaction{
			ID: id.Interaction("int_00000000000" + arg["id"]), SessionID: session, TargetID: target, Operation: arg["op"],
			DispatchedNS: ns(arg["at"]), ObservedNS: until(arg["observed"]), PageAffecting: arg["op"] != "evaluate", Outcome: record.Succeeded, Batch: id.Batch(arg["batch"]),
		})
	case "navigation":
		put(record.Navigation{ID: "nav_000000000001", SessionID: session, TargetID: target, StartNS: ns(arg["start"]), CommitNS: until(arg["commit"])})
	case "marker":
		put(record.Marker{ID: "mrk_000000000001", SessionID: session, TargetID: target, AtNS: ns(arg["at"]), Label: arg["label"], Kind: "note"})
	case "event":
		require.NoError(w.t, w.store.AppendEvents(w.t.Context(), []record.Event{{
			SessionID: session, TargetID: target, Source: "browser", Sequence: w.frames, AtNS: ns(arg["at"]),
			Class: record.EventClass(arg["class"]), Severity: record.Severity(arg["severity"]), Payload: json.RawMessage(`{"text":"` + arg["text"] + `"}`),
		}}))
	case "element":
		w.boxes[arg["ref"]] = evidence.Box{TargetID: target, X: number(arg["x"]), Y: number(arg["y"]), Width: 40, Height: 30}
	case "evict":
		w.store.Evict(target, ns(words[1]))
	case "delete":
		w.store.DeleteSession(session)
	default:
		w.t.Fatalf("unknown line %q", line)
	}
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// frame stores a picture: white, with a dark square at x when it is given.
func (w *world) frame(s id.Session, t id.Target, arg map[string]string) {
	w.frames++
	width, height := 320, 200
	if arg["size"] != "" {
		_, err := fmt.Sscanf(arg["size"], "%dx%d", &width, &height)
		require.NoError(w.t, err)
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	if arg["x"] != "" {
		left := int(number(arg["x"]))
		for y := 40; y < 100; y++ {
			for x := left; x < left+60; x++ {
				img.Set(x, y, color.RGBA{20, 40, 160, 255})
			}
		}
	}
	var file bytes.Buffer
	require.NoError(w.t, png.Encode(&file, img))
	at := ns(arg["at"])
	w.store.AddFrame(record.Frame{
		ID: id.Frame(fmt.Sprintf("frm_%012d", w.frames)), SessionID: s, TargetID: t, Ordinal: w.frames, PresentedNS: &at, ReceivedNS: at + 20e6, Format: "png",
		Width: width, Height: height, Bytes: int64(file.Len()), Viewport: record.Viewport{Width: float64(2 * width), Height: float64(2 * height), DeviceScale: 1},
	}, file.Bytes())
}

// call runs one operation and prints what matters of its answer. A call that begins with "wait" waits for the tail of a
// running session.
func (w *world) call(line string) string {
	line, tail := strings.CutPrefix(line, "wait ")
	tool, raw, _ := strings.Cut(line, " ")
	op, ok := w.ops[tool]
	require.True(w.t, ok, tool)
	for word, issued := range w.names {
		raw = strings.ReplaceAll(raw, word, issued)
	}
	request := op.NewRequest()
	if raw != "" {
		require.NoError(w.t, json.Unmarshal([]byte(raw), request), raw)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		if tail { // the longest wait for frames that have not arrived
			w.clock.BlockUntil(1)
			w.clock.Advance(time.Second)
		}
	}()
	out := capability.NewExecutor(clock.System(), nil, slog.New(slog.DiscardHandler)).Execute(w.t.Context(), op, request)
	<-waited
	if out.RangeHandle != "" {
		w.names["$handle"] = string(out.RangeHandle)
	}
	return w.print(out)
}

func (w *world) print(out capability.Outcome) string {
	lines := []string{string(out.Status)}
	if out.Err != nil {
		lines = append(lines, "error "+describe(out.Err))
	}
	if r := out.Range; r != nil {
		lines = append(lines, fmt.Sprintf("range %v..%v asked %v..%v anchor %s %s, %s, %d gaps, %s", r.StartNS.Duration(), r.EndNS.Duration(),
			r.Requested.StartNS.Duration(), r.Requested.EndNS.Duration(), r.Anchor.Kind, r.Anchor.ID, r.Retention, r.GapCount, r.TimeSource))
	}
	for _, warning := range out.Warnings {
		lines = append(lines, "warning "+string(warning.Code))
	}
	lines = append(lines, w.result(out.Result)...)
	for _, p := range out.Pictures {
		lines = append(lines, fmt.Sprintf("picture %s %s", p.Role, p.Kind))
	}
	for _, note := range append(out.Notes, out.Next...) {
		lines = append(lines, "note "+w.hide(note))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (w *world) hide(text string) string {
	for word, issued := range w.names {
		text = strings.ReplaceAll(text, issued, word)
	}
	return text
}

func describe(f *fault.Error) string {
	line := string(f.Code) + ": " + f.Message
	if f.Limit != nil {
		line += fmt.Sprintf(" (%s %d > %d, try %d)", f.Limit.Subject, f.Limit.Actual, f.Limit.Limit, f.Limit.TryAtMost)
	}
	return line + "; retry " + string(f.Retry) + "; " + f.Recovery
}

func (w *world) result(result any) (lines []string) {
	switch r := result.(type) {
	case evidence.Bundle:
		lines = append(lines, strings.Split(r.Header, "\n")...)
		for _, o := range r.Artifacts {
			lines = append(lines, artifactLine(o))
		}
		for _, e := range r.Events {
			lines = append(lines, fmt.Sprintf("event %+.0f ms %s %s", e.OffsetMS, e.Class, e.Text))
		}
	case evidence.ArtifactsResult:
		for _, o := range r.Outcomes {
			lines = append(lines, artifactLine(o))
		}
	case evidence.FilmstripResult:
		g := r.Region
		lines = append(lines, fmt.Sprintf("region %s %dx%d at %d,%d scale %d/%d", g.Method, g.Width, g.Height, g.X, g.Y, g.ScaleNum, g.ScaleDen), artifactLine(r.Outcome))
	case evidence.RangeResult:
		q := r.Quality
		lines = append(lines, fmt.Sprintf("quality %d frames, %s, hidden %.0f ms, %d epochs, baseline %s", q.Frames, q.CaptureState, q.HiddenMS, len(q.Epochs), q.CarryIn))
	case evidence.FramesResult:
		for _, f := range r.Frames {
			lines = append(lines, "frame "+string(f.ID))
		}
		lines = append(lines, fmt.Sprintf("omitted %d", r.Omitted))
		if r.NextOffset != nil {
			lines = append(lines, fmt.Sprintf("next offset %d", *r.NextOffset))
		}
	case evidence.FetchResult:
		for _, f := range r.Frames {
			lines = append(lines, "frame "+string(f.ID))
		}
	case evidence.Measure:
		lines = append(lines, fmt.Sprintf("%d regions, %d steps, %d quiet", len(r.Regions), len(r.Series), len(r.Quiet)))
	}
	return lines
}

func artifactLine(o evidence.ArtifactOutcome) string {
	line := fmt.Sprintf("%s epoch %d %s", o.Kind, o.Epoch, o.Status)
	if o.Error != nil {
		return line + " " + string(o.Error.Code)
	}
	line += " " + o.Cache
	for _, t := range o.Tiles {
		line += fmt.Sprintf(" | %+.0f ms %s", t.OffsetMS, strings.Join(t.Reasons, ","))
	}
	return line
}

// TestScripts plays each timeline, makes each call and compares the answers; -update rewrites them.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			require.NoError(t, err)
			w := newWorld(t)
			call := ""
			for i := range archive.Files {
				f := &archive.Files[i]
				text := strings.TrimSpace(string(f.Data))
				switch {
				case strings.HasPrefix(f.Name, "timeline"):
					for line := range strings.Lines(text) {
						w.play(strings.TrimSpace(line))
					}
				case strings.HasPrefix(f.Name, "call"):
					call = strings.Join(strings.Fields(text), " ")
				case strings.HasPrefix(f.Name, "answer"):
					got := w.call(call)
					if *update {
						f.Data = []byte(got)
					} else {
						assert.Equal(t, string(f.Data), got, call)
					}
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
			}
		})
	}
}
