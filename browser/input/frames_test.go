package input_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

const inner = `<!doctype html><title>inner</title><body style="margin:20px"><button onclick="document.title='clicked ' + event.isTrusted">Pay</button><label>Card <input></label><div style="height:2000px"></div><button onclick="document.title='low'">Low</button>`

func escape(html string) string { return strings.ReplaceAll(html, `"`, "&quot;") }

// TestFramesAreListedAndActedOn covers the four kinds of child frames in one page.
func TestFramesAreListedAndActedOn(t *testing.T) {
	b := newBench(t)
	same := b.browser.URL(inner)
	cross := browsertest.CrossSite(b.browser.URL(inner))
	s := browsertest.Page(t, `<!doctype html><title>outer</title><h1>Shop</h1><div style="height:300px"></div>
<iframe name="same" src="`+same+`" style="border:7px solid;padding:3px;width:400px;height:150px"></iframe>
<iframe name="cross" src="`+cross+`" style="width:400px;height:150px"></iframe>
<iframe name="doc" srcdoc="`+escape(inner)+`" style="width:400px;height:150px"></iframe>
<iframe name="data" src="data:text/html,`+escape(strings.ReplaceAll(inner, "#", "%23"))+`" style="width:400px;height:150px"></iframe>`)

	list, err := b.observer.Frames(t.Context(), core.ListFramesRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	rows := map[string]core.Frame{}
	for _, f := range list.Frames {
		rows[f.Name] = f
	}
	require.Len(t, list.Frames, 5)
	assert.Equal(t, "main", list.Frames[0].Access)
	assert.Equal(t, "same_origin", rows["same"].Access)
	assert.NotEmpty(t, rows["same"].Path)
	assert.Equal(t, "out_of_process", rows["cross"].Access)
	assert.Empty(t, rows["cross"].Path)
	assert.Equal(t, "same_origin", rows["doc"].Access)
	assert.Contains(t, []string{"cross_origin", "out_of_process"}, rows["data"].Access)
	assert.Equal(t, list.Frames[0].ID, rows["cross"].Parent)

	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	require.Len(t, snap.Sections, 5)
	// A query that finds nothing in the main document says that the page has frames, and how they are reached.
	missed := b.do(s, "click", &core.ClickRequest{Locator: place(`role=button name="Pay"`)})
	require.Equal(t, fault.NotFound, fault.CodeOf(missed.err))
	assert.Contains(t, fault.From(missed.err).Recovery, "frame=ifr_")
	missed = b.do(s, "click", &core.ClickRequest{Locator: place(`role=heading name="Shop"`)})
	assert.Contains(t, fault.From(missed.err).Recovery, "css or point")
	clicked := 0
	for _, section := range snap.Sections[1:] {
		require.Empty(t, section.Unavailable, section.Origin)
		for _, name := range []string{"Pay", "Low"} {
			ref := find(section, name)
			require.NotEmpty(t, ref, "%s %+v", section.Origin, section.Nodes)
			o := b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: ref}})
			require.NoError(t, o.err, "%s in %s", name, section.Origin)
			title := frameTitle(t, b, s.Target(), ref)
			if name == "Pay" {
				assert.Equal(t, "clicked true", title, section.Origin)
			} else {
				assert.Equal(t, "low", title, section.Origin)
			}
			clicked++
		}
		field := find(section, "Card")
		o := b.do(s, "fill", &core.FillRequest{Element: core.Element{Ref: field}, Value: "4242"})
		require.NoError(t, o.err, section.Origin)
		require.NotNil(t, o.observation.Post.TargetState, section.Origin)
		assert.Equal(t, 4, *o.observation.Post.TargetState.ValueLength, section.Origin)
		o = b.do(s, "type_text", &core.TypeRequest{Element: core.Element{Ref: field}, Text: "24"})
		require.NoError(t, o.err, section.Origin)
		assert.Equal(t, 6, *o.observation.Post.TargetState.ValueLength, section.Origin)
	}
	assert.Equal(t, 8, clicked)

	for name, row := range rows {
		result, err := b.observer.Query(t.Context(), core.QueryRequest{Scope: core.Scope{Target: s.Target()}, Query: `name="Pay" frame=` + string(row.ID)})
		switch row.Access {
		case "main":
			require.NoError(t, err)
			assert.Equal(t, core.NoMatch, result.Outcome)
		case "same_origin":
			require.NoError(t, err, name)
			assert.Equal(t, core.Unique, result.Outcome, name)
		default:
			assert.Equal(t, fault.Unsupported, fault.CodeOf(err), name)
		}
	}
}

func find(s core.Section, name string) string {
	for _, n := range s.Nodes {
		if n.Ref != "" && n.Name == name {
			return n.Ref
		}
	}
	return ""
}

func frameTitle(t *testing.T, b *bench, target id.Target, ref string) string {
	t.Helper()
	s, err := b.Page(target)
	require.NoError(t, err)
	d, _, err := b.registry.Find(s, ref)
	require.NoError(t, err)
	var facts struct {
		Title string `json:"title"`
	}
	require.NoError(t, d.Call(t.Context(), &facts, "facts"))
	return facts.Title
}

func TestAChildThatNavigatesInvalidatesOnlyItsOwnReferences(t *testing.T) {
	b := newBench(t)
	child := b.browser.URL(inner)
	s := browsertest.Page(t, `<button>Outer</button><iframe src="`+child+`"></iframe>`)
	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	outer, pay := find(snap.Sections[0], "Outer"), find(snap.Sections[1], "Pay")
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{
		"expression": "new Promise(done => { const f = document.querySelector('iframe'); f.onload = done; f.src = f.src + '?again'; })", "awaitPromise": true,
	}, nil))
	o := b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: pay}})
	assert.Equal(t, fault.StaleReference, fault.CodeOf(o.err))
	assert.False(t, o.sent)
	o = b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: outer}})
	require.NoError(t, o.err)
}

func TestAHungChildFrameIsOneLine(t *testing.T) {
	b := newBench(t)
	cross := browsertest.CrossSite(b.browser.URL(`<button>x</button><script>addEventListener('message', () => { for (;;); })</script>`))
	s := browsertest.Page(t, `<button>Outer</button><iframe src="`+cross+`"></iframe>`)
	text(t, s, "document.querySelector('iframe').contentWindow.postMessage('hang', '*')")
	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	require.Len(t, snap.Sections, 2)
	assert.Equal(t, "unresponsive", snap.Sections[1].Unavailable)
	assert.NotEmpty(t, find(snap.Sections[0], "Outer"))
}

func TestACoveredFrameIsNotClickedThrough(t *testing.T) {
	b := newBench(t)
	child := b.browser.URL(inner)
	s := browsertest.Page(t, `<iframe src="`+child+`" style="width:400px;height:150px"></iframe><div role=dialog aria-label=Consent style="position:fixed;inset:0;background:#fff"></div>`)
	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	o := b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: find(snap.Sections[1], "Pay")}})
	assert.Equal(t, fault.ReferenceNotActionable, fault.CodeOf(o.err))
	assert.Contains(t, o.err.Error(), `covered by dialog "Consent"`)
	assert.False(t, o.sent)
}
