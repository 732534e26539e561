package video_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
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
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/temporal/video"
	"github.com/krometrail/krometrail/visual"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	page    = id.Target("tgt_000000000001")
)

// encoder keeps what it is given instead of encoding.
type encoder struct {
	build     string
	jobs      int
	durations []time.Duration
	pictures  []image.RGBA
	fail      error
	discarded int
}

func (e *encoder) Identity() video.Identity { return video.Identity{Build: e.build, Encoder: "kept"} }

func (e *encoder) Encode(ctx context.Context, j video.Job) (video.Clip, error) {
	e.jobs++
	e.durations, e.pictures = j.Durations, nil
	if e.fail != nil {
		return video.Clip{}, e.fail
	}
	clip := video.Clip{
		Open:    func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("clip"))), nil },
		Discard: func() error { e.discarded++; return nil }, Bytes: 4, SHA256: "ab", MediaType: "video/mp4", Width: j.Width, Height: j.Height,
	}
	for i, d := range j.Durations {
		img, err := j.Picture(ctx, i)
		if err != nil {
			return video.Clip{}, err
		}
		shown := *img
		shown.Pix = bytes.Clone(img.Pix)
		e.pictures = append(e.pictures, shown)
		clip.Times = append(clip.Times, clip.Length)
		clip.Length += d
		j.Progress(i+1, len(j.Durations))
	}
	return clip, nil
}

type idle struct{}

func (idle) Recording() bool { return false }

type bench struct {
	store   *coretest.Store
	encoder *encoder
	service *video.Service
	frames  []record.Frame
}

// newBench records a page that is white and then grey, darker with each frame.
func newBench(t *testing.T, at ...time.Duration) *bench {
	t.Helper()
	b := &bench{store: coretest.NewStore(), encoder: &encoder{build: "one"}}
	require.NoError(t, b.store.Put(t.Context(), record.Session{ID: session, Capture: record.CaptureConfig{EveryNthFrame: 1}}))
	for i, when := range at {
		img := image.NewRGBA(image.Rect(0, 0, 320, 200))
		for p := range img.Pix {
			img.Pix[p] = 255
		}
		for y := 50; y < 150; y++ {
			for x := 50; x < 250; x++ {
				img.Set(x, y, color.Gray{uint8(255 - 30*i)})
			}
		}
		var file bytes.Buffer
		require.NoError(t, png.Encode(&file, img))
		f := record.Frame{ID: id.Frame("frm_" + string(rune('a'+i))), SessionID: session, TargetID: page, Ordinal: uint64(i + 1), ReceivedNS: clock.SessionTime(when), Format: "png", Width: 320, Height: 200}
		b.store.AddFrame(f, file.Bytes())
		b.frames = append(b.frames, f)
	}
	artifacts := artifact.New(b.store, b.store, b.store, idle{}, clock.System(), slog.New(slog.DiscardHandler))
	b.service = video.New(artifacts, b.store, b.encoder, clock.System())
	return b
}

func (b *bench) request(end time.Duration, gaps ...record.Gap) video.Request {
	s := sequence.Sequence{
		Range:  evidence.ResolvedRange{SessionID: session, TargetID: page, EndNS: clock.SessionTime(end), TimeSource: "received"},
		Frames: b.frames, Epochs: []sequence.Epoch{{Last: len(b.frames) - 1}}, Facts: record.Facts{Gaps: gaps},
	}
	return video.Request{Request: artifact.Request{Sequence: s, Epochs: []int{0}}, Policy: visual.RealTime}
}

func (b *bench) one(t *testing.T, r video.Request) evidence.VideoClip {
	t.Helper()
	clips, _, err := b.service.Generate(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, clips, 1)
	return clips[0]
}

func TestRealTimeKeepsTheTiming(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond, 240*time.Millisecond)
	c := b.one(t, b.request(time.Second))
	require.Equal(t, "available", c.Status)
	assert.Equal(t, []time.Duration{40 * time.Millisecond, 200 * time.Millisecond}, b.encoder.durations[:2])
	assert.Equal(t, 3, c.Frames)
	for i, p := range b.encoder.pictures {
		r, _, _, _ := p.At(150, 100).RGBA()
		assert.InDelta(t, 255-30*i, int(r>>8), 3, "picture %d is frame %d", i, i)
	}
	assert.Equal(t, 1, b.encoder.discarded, "the clip outside the store is gone")
}

func TestFramesOfOneInstantAreNamedNotShown(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond, 40*time.Millisecond, 90*time.Millisecond)
	c := b.one(t, b.request(time.Second))
	assert.Equal(t, 3, c.Frames)
	var m video.Manifest
	raw, err := b.store.ReadManifest(t.Context(), c.Artifact.ID)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &m))
	require.Len(t, m.Unshown, 1)
	assert.Equal(t, visual.FrameID("frm_b"), m.Unshown[0].Frame)
}

func TestGapsAreSlates(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond, 800*time.Millisecond)
	end := clock.SessionTime(700 * time.Millisecond)
	c := b.one(t, b.request(time.Second, record.Gap{ID: "gap_1", Reason: record.GapQueueSaturated, StartNS: clock.SessionTime(50 * time.Millisecond), EndNS: &end, Stream: record.StreamFrames}))
	assert.Equal(t, 1, c.Slates)
	var m video.Manifest
	raw, err := b.store.ReadManifest(t.Context(), c.Artifact.ID)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &m))
	require.Len(t, m.Plan.Entries, 4)
	slate := m.Plan.Entries[2]
	assert.Equal(t, visual.EntryGap, slate.Kind)
	assert.Equal(t, 50*time.Millisecond, slate.From)
	assert.Equal(t, 700*time.Millisecond, slate.To)
	assert.NotEqual(t, b.encoder.pictures[1].Pix, b.encoder.pictures[2].Pix, "a slate is no frame")
	for i, e := range m.Plan.Entries[1:] {
		assert.Equal(t, m.Plan.Entries[i].Start+m.Plan.Entries[i].Duration, e.Start, "entries follow without a break")
	}
	assert.Equal(t, "one", m.Encoder.Build)
	assert.False(t, m.Output.Audio)
}

func TestEqualRequestsShareOneClip(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond)
	first := b.one(t, b.request(time.Second))
	again := b.one(t, b.request(time.Second))
	assert.Equal(t, first.Artifact.ID, again.Artifact.ID)
	assert.Equal(t, "hit", again.Cache)
	assert.Equal(t, 1, b.encoder.jobs)
	smaller := b.request(time.Second)
	smaller.Width = 160
	small := b.one(t, smaller)
	assert.Equal(t, 160, small.Artifact.Width)
	assert.Equal(t, 100, small.Artifact.Height)
	b.encoder.build = "two"
	assert.NotEqual(t, first.Artifact.ID, b.one(t, b.request(time.Second)).Artifact.ID, "another build is another clip")
}

func TestLimitsAndFailures(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond)
	_, _, err := b.service.Generate(t.Context(), b.request(31*time.Second))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	assert.Equal(t, fault.ResourceLimitExceeded, f.Code)
	assert.Equal(t, int64(30000), f.Limit.TryAtMost)

	b.encoder.fail = fault.New(fault.EncoderUnavailable, "gone")
	c := b.one(t, b.request(time.Second))
	assert.Equal(t, "unavailable", c.Status)
	assert.Equal(t, fault.EncoderUnavailable, c.Error.Code)

	b.encoder.fail = nil
	b.store.Evict(page, clock.SessionTime(time.Minute))
	c = b.one(t, b.request(time.Second))
	assert.Equal(t, fault.EvidenceInvalidated, c.Error.Code)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	clips, _, err := b.service.Generate(ctx, b.request(time.Second))
	require.NoError(t, err)
	assert.Equal(t, fault.Cancelled, clips[0].Error.Code)
}

func TestProgressIsReported(t *testing.T) {
	b := newBench(t, 0, 40*time.Millisecond)
	var said []string
	_, _, err := b.service.Generate(capability.WithReporter(t.Context(), func(s string) { said = append(said, s) }), b.request(time.Second))
	require.NoError(t, err)
	assert.Equal(t, []string{"encoded 1 of 2 pictures", "encoded 2 of 2 pictures"}, said)
}
