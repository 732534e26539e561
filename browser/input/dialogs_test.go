package input_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	core "github.com/krometrail/krometrail/core/page"
)

func TestADialogOfADrag(t *testing.T) {
	for name, script := range map[string]string{
		"on drop":         `g.ondrop = e => { e.preventDefault(); out.textContent = 'kept ' + confirm('Move it?'); }`,
		"on the start":    `t.addEventListener('dragstart', () => { out.textContent = 'kept ' + confirm('Move it?'); })`,
		"on pointer down": `t.onpointerdown = () => { out.textContent = 'kept ' + confirm('Move it?'); }`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := browsertest.Page(t, `<!doctype html><div id=t draggable=true style="width:60px;height:30px;background:#cde">drag</div><div id=g style="width:90px;height:40px;background:#edc;margin-top:40px">drop</div><p id=out></p><button onclick="out.textContent='alive'">Check</button>
<script>t.ondragstart = e => e.dataTransfer.setData('text/plain', 'x'); g.ondragover = e => e.preventDefault(); `+script+`</script>`)
			o := b.must(s, "drag", &core.DragRequest{From: core.Locator{CSS: "#t"}, To: core.Locator{CSS: "#g"}, Steps: 10})
			require.NotNil(t, o.observation.Dialog, "the drag returns with its dialog")
			assert.Equal(t, "Move it?", o.observation.Dialog.Message)
			b.must(s, "handle_dialog", &core.HandleDialogRequest{Action: "accept"})
			assert.Equal(t, "kept true", text(t, s, "out.textContent"))
			b.must(s, "click", click(`name="Check"`))
			assert.Equal(t, "alive", text(t, s, "out.textContent"), "no half drag is left behind")
		})
	}
}

func TestADialogOfAFrame(t *testing.T) {
	b := newBench(t)
	inner := b.browser.URL(`<!doctype html><button onclick="this.textContent = 'answered ' + confirm('Pay?')">Pay</button>`)
	for name, address := range map[string]string{"same site": inner, "other process": browsertest.CrossSite(inner)} {
		t.Run(name, func(t *testing.T) {
			s := browsertest.Page(t, `<!doctype html><iframe src="`+address+`"></iframe>`)
			snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: scope(s)})
			require.NoError(t, err)
			require.Len(t, snap.Sections, 2)
			ref := find(snap.Sections[1], "Pay")
			require.NotEmpty(t, ref)
			o := b.must(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: ref}})
			require.NotNil(t, o.observation.Dialog)
			assert.Equal(t, core.Dialog{Type: "confirm", Message: "Pay?"}, *o.observation.Dialog)
			b.must(s, "handle_dialog", &core.HandleDialogRequest{Action: "dismiss"})
			_, err = b.observer.Wait(t.Context(), core.WaitRequest{Scope: scope(s), NetworkQuietMS: 1, TimeoutMS: 30000})
			require.NoError(t, err, "the page answers again")
		})
	}
}

func TestDialogsOfTwoPagesAreAnsweredApart(t *testing.T) {
	b := newBench(t)
	html := `<button onclick="document.title = 'is ' + confirm('Sure?')">Go</button>`
	one, two := browsertest.Page(t, html), browsertest.Page(t, html)
	require.NotNil(t, b.must(one, "click", click(`name="Go"`)).observation.Dialog)
	require.NotNil(t, b.must(two, "click", click(`name="Go"`)).observation.Dialog, "a dialog of one page holds up no other")
	b.must(one, "handle_dialog", &core.HandleDialogRequest{Action: "dismiss"})
	open, _ := two.Dialog()
	require.NotNil(t, open)
	b.must(two, "handle_dialog", &core.HandleDialogRequest{Action: "accept"})
	assert.Equal(t, "is false", text(t, one, "document.title"))
	assert.Equal(t, "is true", text(t, two, "document.title"))
}
