package input_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// action is one case of the corpus: a snippet, what is done to it, and what must be true of it afterwards. The
// snippet's target has class t; scripts and checks see its section as $ and its target as t. A silent no-op
// makes the check fail.
type action struct {
	name string
	html string
	do   func(at core.Element) (operation string, request any)
	// check is an expression; "" for cases that must fail with code before anything is sent.
	check string
	code  fault.Code
	// says is a part of the failure's message.
	says string
}

// log appends what happens to the section's dataset.
const corpusScript = `
const log = ($, x) => { $.dataset.log = ($.dataset.log || '') + x + ' '; };
function setup(f, id) { const $ = document.getElementById(id); f($, $.querySelector('.t'), x => log($, x)); }
`

func corpusPage(cases []action) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset=utf-8><title>corpus</title><style>section{margin:30px 8px;position:relative;min-height:20px}</style><script>` + corpusScript + `</script>`)
	for i, c := range cases {
		html, script, _ := strings.Cut(c.html, "<js>")
		fmt.Fprintf(&b, "<section id=c%d>%s</section>", i, html)
		if script != "" {
			fmt.Fprintf(&b, "<script>setup(($, t, log) => {%s}, 'c%d')</script>", script, i)
		}
	}
	b.WriteString(`<div style="height:900px"></div>`)
	return b.String()
}

func TestActionCorpus(t *testing.T) {
	cases := corpus(t)
	assert.GreaterOrEqual(t, len(cases), 150)
	b := newBench(t)
	const perPage = 40
	failed := 0
	for from := 0; from < len(cases); from += perPage {
		part := cases[from:min(from+perPage, len(cases))]
		s := browsertest.Page(t, corpusPage(part))
		for i, c := range part {
			if !t.Run(c.name, func(t *testing.T) { runCase(t, b, s, i, c) }) {
				failed++
			}
		}
	}
	t.Logf("%d of %d action cases complete", len(cases)-failed, len(cases))
}

func runCase(t *testing.T, b *bench, s *page.Session, i int, c action) {
	operation, request := c.do(core.Element{CSS: "#c" + strconv.Itoa(i) + " .t"})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a := control.Action{Operation: operation, TargetID: s.Target(), Request: request}
	sent := false
	p, err := b.driver.Resolve(ctx, a)
	if err == nil {
		_, err = b.driver.Dispatch(ctx, a, p, func() { sent = true })
	}
	if c.code != "" {
		require.Error(t, err)
		assert.Equal(t, c.code, fault.CodeOf(err), err.Error())
		assert.Contains(t, err.Error(), c.says)
		if c.check == "" {
			assert.False(t, sent, "a refused action sends nothing")
			return
		}
	} else {
		require.NoError(t, err)
	}
	if p != nil {
		_, err = b.driver.Settle(ctx, a, p)
		require.NoError(t, err)
	}
	expression := fmt.Sprintf("(($, t, logged) => {try {return (%s) ? 'true' : 'false; log: ' + logged + ' value: ' + (t && (t.value ?? t.textContent))} catch (e) {return String(e)}})(document.getElementById('c%d'), document.querySelector('#c%d .t'), (document.getElementById('c%d').dataset.log || '').trim())", c.check, i, i, i)
	assert.Equal(t, "true", text(t, s, expression), c.check)
}

type request func(core.Element) (string, any)

func doClick(change ...func(*core.ClickRequest)) request {
	return func(e core.Element) (string, any) {
		r := &core.ClickRequest{Locator: core.Locator{CSS: e.CSS}}
		for _, f := range change {
			f(r)
		}
		return "click", r
	}
}

func doFill(value string, mode ...string) request {
	return func(e core.Element) (string, any) {
		r := &core.FillRequest{Element: e, Value: value}
		if len(mode) > 0 {
			r.Mode = mode[0]
		}
		return "fill", r
	}
}

func doType(value string) request {
	return func(e core.Element) (string, any) { return "type_text", &core.TypeRequest{Element: e, Text: value} }
}

func doPress(keys ...string) request {
	return func(e core.Element) (string, any) { return "press_keys", &core.PressRequest{Element: e, Keys: keys} }
}

func doClear() request {
	return func(e core.Element) (string, any) { return "clear", &core.ClearRequest{Element: e} }
}

func doToggle(state string) request {
	return func(e core.Element) (string, any) { return "toggle", &core.ToggleRequest{Element: e, State: state} }
}

func doHover() request {
	return func(e core.Element) (string, any) {
		return "hover", &core.HoverRequest{Locator: core.Locator{CSS: e.CSS}}
	}
}

func doSelect(f func(*core.SelectRequest)) request {
	return func(e core.Element) (string, any) {
		r := &core.SelectRequest{Element: e}
		f(r)
		return "select_option", r
	}
}

func byValue(v string) request { return doSelect(func(r *core.SelectRequest) { r.Value = &v }) }
func byLabel(v string) request { return doSelect(func(r *core.SelectRequest) { r.Label = &v }) }
func byIndex(v int) request    { return doSelect(func(r *core.SelectRequest) { r.Index = &v }) }

func doScroll(dx, dy float64) request {
	return func(e core.Element) (string, any) {
		return "scroll", &core.ScrollRequest{Locator: core.Locator{CSS: e.CSS}, DX: dx, DY: dy}
	}
}

func doBring() request {
	return func(e core.Element) (string, any) { return "scroll", &core.ScrollRequest{ToCSS: e.CSS} }
}

func doDrag(to string) request {
	return func(e core.Element) (string, any) {
		section, _, _ := strings.Cut(e.CSS, " ")
		return "drag", &core.DragRequest{From: core.Locator{CSS: e.CSS}, To: core.Locator{CSS: section + " " + to}}
	}
}

func doUpload(files ...string) request {
	return func(e core.Element) (string, any) {
		return "upload_files", &core.UploadRequest{Element: e, Files: files}
	}
}

func temporary(t *testing.T, name, content string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

var longText = strings.Repeat("lorem ipsum ", 500)

// jsString is a script literal of the text.
func jsString(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
