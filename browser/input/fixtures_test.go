package input_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func fixture(t testing.TB, name string) *page.Session {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return browsertest.Page(t, string(raw))
}

func verdict(t testing.TB, s *page.Session) string {
	return text(t, s, "document.querySelector('#result').textContent")
}

func click(q string) *core.ClickRequest { return &core.ClickRequest{Locator: place(q)} }

func fill(q, value string) *core.FillRequest {
	return &core.FillRequest{Element: query(q), Value: value}
}

func TestRichEditor(t *testing.T) {
	b, s := newBench(t), fixture(t, "02-rich-editor.html")
	o := b.must(s, "fill", fill(`label="Message"`, "Hello team"))
	assert.Empty(t, o.observation.Post.Expectation)
	b.must(s, "click", click(`role=button name="Send"`))
	assert.Equal(t, "PASS model updated", verdict(t, s))
}

func TestChoices(t *testing.T) {
	b, s := newBench(t), fixture(t, "03-choices.html")
	empty := ""
	b.must(s, "select_option", &core.SelectRequest{Element: query(`label~="Plan"`), Value: &empty})
	b.must(s, "fill", fill(`role=combobox name="City"`, "Paris"))
	b.must(s, "click", click(`name~="Size"`))
	b.must(s, "click", click(`role=option name="Large"`))
	b.must(s, "click", click(`name="Check"`))
	assert.Equal(t, "PASS all three", verdict(t, s))
}

func TestUploadThroughItsButton(t *testing.T) {
	b, s := newBench(t), fixture(t, "05-upload-proxy.html")
	file := filepath.Join(t.TempDir(), "report.txt")
	require.NoError(t, os.WriteFile(file, []byte("hello-upload"), 0o600))
	b.must(s, "upload_files", &core.UploadRequest{Element: query(`name="Attach report"`), Files: []string{file}})
	assert.Equal(t, "PASS report.txt", verdict(t, s))
}

func TestStaleAfterNavigation(t *testing.T) {
	b, s := newBench(t), fixture(t, "10-stale-after-navigation.html")
	a, err := b.observer.Query(t.Context(), core.QueryRequest{Scope: core.Scope{Target: s.Target()}, Query: `name="Delete draft"`})
	require.NoError(t, err)
	o := b.must(s, "click", click(`name="Next page"`))
	require.NotNil(t, o.observation.Post.Navigation)
	o = b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: a.Ref}})
	assert.Equal(t, fault.StaleReference, fault.CodeOf(o.err))
	assert.False(t, o.sent)
	assert.Equal(t, "waiting", verdict(t, s))
}

func TestShadowRoots(t *testing.T) {
	b, s := newBench(t), fixture(t, "12-shadow.html")
	b.must(s, "click", click(`name="Confirm open"`))
	b.must(s, "click", click(`name="Confirm closed"`))
	assert.Equal(t, "PASS closed+open", verdict(t, s))
}

func TestPopup(t *testing.T) {
	b, s := newBench(t), fixture(t, "14-popup.html")
	o := b.must(s, "click", click(`name~="Sign in"`))
	require.Len(t, o.observation.Post.NewPages, 1)
	popup := o.observation.Post.NewPages[0]
	assert.Equal(t, s.Target(), popup.Opener)
	ps, err := b.Page(popup.TargetID)
	require.NoError(t, err)
	o = b.do(ps, "click", click(`name="Approve sign-in"`))
	require.NoError(t, o.err)
	_, err = b.observer.Wait(t.Context(), core.WaitRequest{Scope: core.Scope{Target: s.Target()}, Text: "PASS signed in", PollMS: 10})
	require.NoError(t, err)
}

func TestNestedScroll(t *testing.T) {
	b, s := newBench(t), fixture(t, "16-nested-scroll.html")
	o := b.must(s, "scroll", &core.ScrollRequest{DY: 15900})
	r, ok := o.result.(core.ScrollResult)
	require.True(t, ok)
	assert.InDelta(t, 15900, r.MovedY, 1)
	b.must(s, "click", click(`name="Open 400"`))
	assert.Equal(t, "PASS opened 400", verdict(t, s))
}

func TestKeyboard(t *testing.T) {
	b, s := newBench(t), fixture(t, "17-keyboard.html")
	b.must(s, "type_text", &core.TypeRequest{Element: query(`label="Note"`), Text: "naïve 日本語 🚀\nline two"})
	b.must(s, "press_keys", &core.PressRequest{Keys: []string{"Control+Shift+K"}})
	b.must(s, "click", click(`name="Check"`))
	assert.Contains(t, verdict(t, s), "PASS")
}

func TestCanvas(t *testing.T) {
	b, s := newBench(t), fixture(t, "23-canvas.html")
	x := text(t, s, "JSON.parse(checkerPoint())[0]")
	y := text(t, s, "JSON.parse(checkerPoint())[1]")
	shot, err := b.observer.Screenshot(t.Context(), core.ScreenshotRequest{Scope: core.Scope{Target: s.Target()}})
	require.NoError(t, err)
	assert.InDelta(t, 1, shot.CSSPerPixel, 0.001)
	b.must(s, "click", &core.ClickRequest{Locator: core.Locator{Point: &core.Point{X: number(t, x), Y: number(t, y), Space: core.SpaceImage}}})
	assert.Equal(t, "PASS hit", verdict(t, s))
}

func TestHugePage(t *testing.T) {
	b, s := newBench(t), fixture(t, "21-huge-page.html")
	b.must(s, "click", click(`name="Checkout basket"`))
	assert.Equal(t, "PASS checkout", verdict(t, s))
}
