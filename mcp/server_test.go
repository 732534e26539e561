package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/mcp/catalogue"
	"github.com/krometrail/krometrail/mcp/client"
	"github.com/krometrail/krometrail/mcp/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_0123456789ab")
	target  = id.Target("tgt_0123456789ab")
)

type greet struct {
	Name  string    `json:"name,omitempty" doc:"whom" maxlen:"10"`
	Count int       `json:"count,omitempty" min:"1" max:"3" default:"1"`
	Page  id.Target `json:"page,omitempty"`
}

type greeting struct {
	Text string `json:"text"`
}

// stage is a set of operations with a behaviour that a test chooses.
type stage struct {
	run func(ctx context.Context, r *greet) (capability.Outcome, error)
}

func (s *stage) ops() []capability.Op {
	define := func(name string, kind capability.Kind, lean bool) capability.Op {
		return capability.Define[greet, greeting](capability.Spec{
			Name: name, Capability: capability.TemporalVision, Kind: kind, Lane: capability.Free, Batchable: true, Lean: lean, Tiers: true, Pictures: true,
			OwnDeadline: true, Title: "Greet", Summary: "Greets.",
		}, func(ctx context.Context, r *greet) (capability.Outcome, error) { return s.run(ctx, r) })
	}
	return []capability.Op{define("greet", capability.Change, true), define("hidden", capability.Read, false)}
}

type shelf map[string]resource.Content

func (s shelf) Read(_ context.Context, ref resource.Ref) (resource.Content, error) {
	content, ok := s[ref.Name]
	if !ok {
		return content, fault.New(fault.NotFound, "it was never recorded")
	}
	return content, nil
}

func build(t testing.TB, c clock.Clock, set catalogue.Set, ops ...capability.Op) *Server {
	t.Helper()
	selection, err := capability.Select(nil, nil)
	require.NoError(t, err)
	registry, err := capability.NewRegistry(selection, ops...)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	s, err := New(Config{
		Version: "1.0.0", Registry: registry, Tools: set, Executor: capability.NewExecutor(c, nil, log), Clock: c, Log: log,
		Resources: shelf{
			"frm_0123456789ab": {MediaType: "image/jpeg", Data: []byte{1, 2, 3}},
			"art_0123456789ab": {MediaType: "application/json", Data: []byte(`{"a":1}`)},
		},
	})
	require.NoError(t, err)
	return s
}

// each runs f with a client of every version.
func (s *stage) each(t *testing.T, f func(t *testing.T, s *Server, c *client.Client)) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			server := build(t, clock.System(), catalogue.Full, s.ops()...)
			c, err := client.Dial(t.Context(), server, client.WithVersion(version))
			require.NoError(t, err)
			f(t, server, c)
			require.NoError(t, c.Close())
		})
	}
}

// call calls greet and checks the answer against the tool's own output schema.
func call(t *testing.T, s *Server, c *client.Client, arguments any) client.Result {
	t.Helper()
	result, err := c.CallTool(t.Context(), "greet", arguments)
	require.NoError(t, err)
	tool, _ := s.Catalogue().Tool("greet")
	require.NoError(t, tool.CheckOutput(result.Structured))
	return result
}

func TestASuccess(t *testing.T) {
	s := &stage{run: func(_ context.Context, r *greet) (capability.Outcome, error) {
		started := clock.SessionTime(1_284_000_000)
		return capability.Outcome{
			Result: greeting{Text: "hello " + r.Name},
			Interaction: &capability.InteractionRef{
				ID: "int_0123456789ab", SessionID: session, TargetID: target, Operation: "greet",
				Outcome: "succeeded", StartedNS: &started, DispatchedNS: &started,
			},
			Warnings:  []*fault.Error{fault.New(fault.AffectedEdgeStart, "the start is affected")},
			Notes:     []string{"started the default browser"},
			Next:      []string{"observe_live"},
			Resources: []evidence.Resource{{Role: "source_frame", URI: "krometrail://evidence/a", Name: "frame", MediaType: "image/jpeg", Bytes: 7}},
		}, nil
	}}
	s.each(t, func(t *testing.T, server *Server, c *client.Client) {
		r := call(t, server, c, map[string]any{"name": "you"})
		assert.False(t, r.Failed)
		assert.Equal(t, `greet succeeded
text "hello you"
interaction int_0123456789ab greet on tgt_0123456789ab dispatched +1.284 s succeeded
resource source_frame krometrail://evidence/a (image/jpeg, 7 bytes)
warning affected_edge_start: the start is affected; retry never
note: started the default browser
next: observe_live`, r.Text)
		assert.JSONEq(t, `{"tool":"greet","status":"succeeded","result":{"text":"hello you"},
			"interaction":{"id":"int_0123456789ab","session_id":"ses_0123456789ab","target_id":"tgt_0123456789ab","operation":"greet","outcome":"succeeded","started_ns":1284000000,"dispatched_ns":1284000000},
			"warnings":[{"code":"affected_edge_start","message":"the start is affected","retry":"never"}],
			"notes":["started the default browser"],"next":["observe_live"],
			"resources":[{"role":"source_frame","uri":"krometrail://evidence/a","name":"frame","mime_type":"image/jpeg","bytes":7}]}`, string(r.Structured))
		assert.Equal(t, []client.Link{{URI: "krometrail://evidence/a", Name: "frame", Description: "source frame", MediaType: "image/jpeg", Size: 7}}, r.Links)
	})
}

func TestAFailure(t *testing.T) {
	s := &stage{run: func(context.Context, *greet) (capability.Outcome, error) {
		return capability.Outcome{Stage: "resolve", Result: greeting{Text: "known so far"}},
			fault.New(fault.StaleReference, "the node is gone").WithRecovery("take a new snapshot").Because(errors.New("secret"))
	}}
	s.each(t, func(t *testing.T, server *Server, c *client.Client) {
		r := call(t, server, c, nil)
		assert.True(t, r.Failed)
		var failed fault.Error
		require.NoError(t, r.Decode("error", &failed))
		assert.Equal(t, fault.StaleReference, failed.Code)
		var diagnostics struct {
			CorrelationID string `json:"correlation_id"`
			Stage, Cause  string
		}
		require.NoError(t, r.Decode("diagnostics", &diagnostics))
		assert.NotEmpty(t, diagnostics.CorrelationID)
		assert.Equal(t, "resolve", diagnostics.Stage)
		first, _, _ := strings.Cut(r.Text, "\n")
		assert.Equal(t, "greet failed: stale_reference: the node is gone; recovery: take a new snapshot; retry after_recovery", first)
		assert.Contains(t, r.Text, `text "known so far"`)
		assert.Contains(t, r.Text, diagnostics.CorrelationID)
		assert.NotContains(t, r.Text+string(r.Structured), "secret")
	})
}

func TestPanicsAndForeignErrorsAreInternal(t *testing.T) {
	for name, run := range map[string]func(context.Context, *greet) (capability.Outcome, error){
		"panic": func(context.Context, *greet) (capability.Outcome, error) { panic("secret") },
		"error": func(context.Context, *greet) (capability.Outcome, error) {
			return capability.Outcome{}, errors.New("secret")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{run: run}
			s.each(t, func(t *testing.T, server *Server, c *client.Client) {
				r := call(t, server, c, nil)
				assert.True(t, r.Failed)
				assert.Contains(t, r.Text, "greet failed: internal")
				assert.NotContains(t, r.Text+string(r.Structured), "secret")
				assert.Contains(t, string(r.Structured), `"result":{}`)
			})
		})
	}
}

func TestBadArgumentsNeverReachTheOperation(t *testing.T) {
	s := &stage{run: func(context.Context, *greet) (capability.Outcome, error) { panic("reached") }}
	s.each(t, func(t *testing.T, server *Server, c *client.Client) {
		for arguments, want := range map[string]string{
			`{"nom":"x"}`:                  "greet failed: invalid_input: argument nom: is unknown to greet; recovery: use only count, detail, inline_images, name, page; retry never",
			`{"count":9}`:                  "greet failed: invalid_input: argument count: must be at most 3; recovery: correct count and call again; retry never",
			`{"page":"frm_0123456789ab"}`:  "greet failed: invalid_input: argument page: must be an identifier tgt_ followed by 12 characters, as answers give it; recovery: correct page and call again; retry never",
			`{"name":"secret as it is"}`:   "greet failed: invalid_input: argument name: must have at most 10 characters; recovery: correct name and call again; retry never",
			`{"name":"a","detail":"most"}`: "greet failed: invalid_input: argument detail: must be one of concise, expanded, full; recovery: correct detail and call again; retry never",
		} {
			r := call(t, server, c, json.RawMessage(arguments))
			assert.True(t, r.Failed)
			first, _, _ := strings.Cut(r.Text, "\n")
			assert.Equal(t, want, first)
			assert.NotContains(t, r.Text+string(r.Structured), "secret")
		}
	})
}

func picture(side int, data []byte, err error) evidence.Picture {
	return evidence.Picture{
		Role: evidence.RoleScreenshot, Kind: "screenshot", Width: side, Height: side / 2, ObservationID: "obs_0123456789ab",
		MediaType: "image/png", Load: func(context.Context) ([]byte, error) { return data, err },
	}
}

func TestPictures(t *testing.T) {
	var pictures []evidence.Picture
	s := &stage{run: func(context.Context, *greet) (capability.Outcome, error) {
		return capability.Outcome{Result: greeting{}, Pictures: pictures}, nil
	}}
	s.each(t, func(t *testing.T, server *Server, c *client.Client) {
		asked := map[string]any{"inline_images": true}
		pictures = []evidence.Picture{picture(1000, []byte("png"), nil), picture(1000, []byte("png2"), nil)}
		assert.Empty(t, call(t, server, c, nil).Images)
		r := call(t, server, c, asked)
		assert.Equal(t, []client.Picture{{MediaType: "image/png", Data: []byte("png")}, {MediaType: "image/png", Data: []byte("png2")}}, r.Images)
		assert.Contains(t, r.Text, "picture requested_screenshot 1000x500 obs_0123456789ab")

		pictures = []evidence.Picture{picture(1600, []byte("png"), nil)} // too long
		r = call(t, server, c, asked)
		assert.Empty(t, r.Images)
		assert.Contains(t, r.Text, "picture requested_screenshot 1600x800 obs_0123456789ab, not inline")
		assert.Contains(t, r.Text, "note: the picture is larger than an answer may carry")
		pictures = []evidence.Picture{picture(1560, []byte("png"), nil)} // too much area
		assert.Empty(t, call(t, server, c, asked).Images)

		pictures = []evidence.Picture{picture(1000, nil, fault.New(fault.NotFound, "the picture is gone"))}
		r = call(t, server, c, asked)
		assert.False(t, r.Failed)
		assert.Contains(t, r.Text, "greet degraded: not_found: the picture is gone")
	})
}

func TestHiddenToolsAreStepsOnly(t *testing.T) {
	s := &stage{run: func(_ context.Context, r *greet) (capability.Outcome, error) {
		return capability.Outcome{Result: greeting{Text: r.Name}}, nil
	}}
	server := build(t, clock.System(), catalogue.Lean, s.ops()...)
	assert.Equal(t, []string{"hidden"}, server.Hidden())
	c, err := client.Dial(t.Context(), server)
	require.NoError(t, err)
	tools, err := c.ListTools(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 1)
	_, err = c.CallTool(t.Context(), "hidden", nil)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, -32602, refused.Code)

	out := server.Execute(t.Context(), "hidden", json.RawMessage(`{"name":"x"}`))
	assert.Equal(t, capability.Succeeded, out.Status)
	assert.Equal(t, greeting{Text: "x"}, out.Result)
	out = server.Execute(t.Context(), "hidden", json.RawMessage(`{"detail":"full"}`))
	assert.Equal(t, fault.InvalidInput, out.Err.Code)
	out = server.Execute(t.Context(), "nothing", nil)
	assert.Equal(t, fault.InvalidInput, out.Err.Code)
	require.NoError(t, c.Close())
}

func TestResources(t *testing.T) {
	s := &stage{}
	s.each(t, func(t *testing.T, _ *Server, c *client.Client) {
		templates, err := c.ListTemplates(t.Context())
		require.NoError(t, err)
		assert.Len(t, templates, 6)
		frame, err := c.ReadResource(t.Context(), evidence.EvidenceURI(session, target, evidence.FramesPath, "frm_0123456789ab"))
		require.NoError(t, err)
		assert.Equal(t, "image/jpeg", frame.MediaType)
		assert.Equal(t, []byte{1, 2, 3}, frame.Data)
		manifest, err := c.ReadResource(t.Context(), evidence.EvidenceURI(session, target, evidence.Manifests, "art_0123456789ab"))
		require.NoError(t, err)
		assert.JSONEq(t, `{"a":1}`, string(manifest.Data))
		for _, uri := range []string{
			evidence.EvidenceURI(session, target, evidence.FramesPath, "frm_000000000000"), // never recorded
			evidence.EvidenceURI(session, target, evidence.FramesPath, "art_0123456789ab"), // not canonical
			"krometrail://evidence/ses_0123456789ab", "https://example.com/",
		} {
			_, err = c.ReadResource(t.Context(), uri)
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, []int{-32602, -32002}, refused.Code)
			assert.Contains(t, string(refused.Data), uri)
		}
	})
}

func TestAHeartbeatForWhoAsksForProgress(t *testing.T) {
	clk := coretest.NewClock(time.Unix(0, 0))
	release := make(chan struct{})
	s := &stage{run: func(context.Context, *greet) (capability.Outcome, error) {
		<-release
		return capability.Outcome{Result: greeting{}}, nil
	}}
	heard := make(chan client.Notification, 10)
	c, err := client.Dial(t.Context(), build(t, clk, catalogue.Full, s.ops()...), client.WithNotifications(func(n client.Notification) { heard <- n }))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(t.Context(), "greet", nil, client.WithProgress("tok"))
		done <- err
	}()
	for i := range 3 {
		clk.BlockUntil(1)
		clk.Advance(heartbeatInterval)
		n := <-heard
		assert.Equal(t, "notifications/progress", n.Method)
		assert.JSONEq(t, fmt.Sprintf(`{"progressToken":"tok","progress":%d,"message":"greet is running"}`, i+1), string(n.Params))
	}
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, c.Close())
}

func TestACallsOwnProgressReplacesTheHeartbeat(t *testing.T) {
	clk := coretest.NewClock(time.Unix(0, 0))
	s := &stage{run: func(ctx context.Context, _ *greet) (capability.Outcome, error) {
		clk.BlockUntil(1)
		clk.Advance(heartbeatInterval)
		clk.BlockUntil(1) // one heartbeat was heard, the next is due
		capability.Progress(ctx, 1, 2, "half")
		capability.Progress(ctx, 2, 2, "all")
		return capability.Outcome{Result: greeting{}}, nil
	}}
	heard := make(chan client.Notification, 10)
	c, err := client.Dial(t.Context(), build(t, clk, catalogue.Full, s.ops()...), client.WithNotifications(func(n client.Notification) { heard <- n }))
	require.NoError(t, err)
	_, err = c.CallTool(t.Context(), "greet", nil, client.WithProgress("tok"))
	require.NoError(t, err)
	for _, want := range []string{
		`{"progressToken":"tok","progress":1,"message":"greet is running"}`,
		`{"progressToken":"tok","progress":2,"total":3,"message":"half"}`,
		`{"progressToken":"tok","progress":3,"total":3,"message":"all"}`,
	} {
		n := <-heard
		assert.JSONEq(t, want, string(n.Params))
	}
	require.NoError(t, c.Close())
}

func TestCancellingAClientCall(t *testing.T) {
	ended := make(chan error, 1)
	entered := make(chan struct{})
	s := &stage{run: func(ctx context.Context, _ *greet) (capability.Outcome, error) {
		close(entered)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return capability.Outcome{}, ctx.Err()
	}}
	c, err := client.Dial(t.Context(), build(t, clock.System(), catalogue.Full, s.ops()...))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	_, err = c.CallTool(ctx, "greet", nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, fault.Cancelled, fault.CodeOf(<-ended))
	require.NoError(t, c.Close())
	_, err = c.CallTool(t.Context(), "greet", nil)
	require.ErrorIs(t, err, client.ErrClosed)
	require.ErrorIs(t, c.Close(), client.ErrClosed)
}

func TestInstructionsStayShort(t *testing.T) {
	assert.Less(t, len(instructions), 2048)
}

func TestABrokenOperationStopsTheStart(t *testing.T) {
	type broken struct {
		A int `json:"a,omitempty" min:"many"`
	}
	selection, _ := capability.Select(nil, nil)
	registry, err := capability.NewRegistry(selection, capability.Define[broken, greeting](capability.Spec{
		Name: "broken", Capability: capability.Control, Kind: capability.Read, Lane: capability.Free, Summary: "s",
	}, func(context.Context, *broken) (capability.Outcome, error) { return capability.Outcome{}, nil }))
	require.NoError(t, err)
	_, err = New(Config{Registry: registry, Tools: catalogue.Full, Clock: clock.System(), Log: slog.New(slog.DiscardHandler), Resources: shelf{}})
	require.ErrorContains(t, err, "tool broken")
}

// TestControlSurface lists the real control operations over the real loop, in every version.
func TestControlSurface(t *testing.T) {
	server := build(t, clock.System(), catalogue.Full, control.Operations{}.Ops()...)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		c, err := client.Dial(t.Context(), server, client.WithVersion(version))
		require.NoError(t, err)
		tools, err := c.ListTools(t.Context())
		require.NoError(t, err)
		assert.Len(t, tools, len(server.Catalogue().Tools()))
		require.NoError(t, c.Close())
	}
}
