package input_test

import (
	"strings"
	"testing"

	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// trusted notes trusted events of the given types.
const trusted = `for (const k of ['click','dblclick','contextmenu','auxclick','input','change','beforeinput','keydown','focus','mousedown']) t.addEventListener(k, e => log((e.isTrusted ? '' : 'fake-') + k));`

// controlled behaves like a framework's controlled input: the model is the authority, and a change that did not come
// through an input event seen by the value tracker is undone.
const controlled = `let model = t.value, own = Object.getOwnPropertyDescriptor(t.constructor.prototype, 'value'), tracked = t.value;
Object.defineProperty(t, 'value', {configurable: true, get() { return own.get.call(t); }, set(v) { tracked = '' + v; own.set.call(t, v); }});
t.addEventListener('input', () => { const now = own.get.call(t); if (now !== tracked) { tracked = now; model = now; $.dataset.model = model; } else { own.set.call(t, model); } });`

func corpus(t *testing.T) []action {
	report := temporary(t, "report.txt", "hello")
	second := temporary(t, "second.txt", "more")
	var all []action
	for _, part := range [][]action{clicks(), obstacles(), fills(), natives(), editors(), typing(), presses(), selects(), toggles(), hovers(), drags(), scrolls(), uploads(report, second)} {
		all = append(all, part...)
	}
	return all
}

func clicks() []action {
	clicked := `logged.includes('click') && !logged.includes('fake')`
	snippet := func(name, html string) action {
		return action{name: "click/" + name, html: html + "<js>" + trusted, do: doClick(), check: clicked}
	}
	list := []action{
		snippet("button", `<button class=t>Go</button>`),
		snippet("link without address", `<a class=t href="#x">link</a>`),
		snippet("input button", `<input type=button class=t value=Go>`),
		snippet("input submit", `<form onsubmit="return false"><input type=submit class=t></form>`),
		snippet("image button", `<form onsubmit="return false"><input type=image class=t alt=Go src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" width=30 height=20></form>`),
		snippet("div with role", `<div class=t role=button tabindex=0>Go</div>`),
		snippet("div with listener", `<div class=t style="width:80px">Go</div>`),
		snippet("span with pointer", `<span class=t style="cursor:pointer">Go</span>`),
		snippet("svg icon", `<svg class=t width=40 height=40><rect width=40 height=40 /></svg>`),
		snippet("svg part", `<svg width=40 height=40><rect class=t width=40 height=40 /></svg>`),
		snippet("image", `<img class=t width=30 height=30 src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`),
		snippet("nested child takes it", `<button class=t><span><b>Deep</b></span></button>`),
		snippet("inline link over two lines", `<div style="width:120px">some words before <a class=t href="#">a link that wraps over lines</a></div>`),
		snippet("rounded corner", `<button class=t style="width:60px;height:60px;border-radius:30px">o</button>`),
		snippet("transformed", `<button class=t style="transform:rotate(30deg) scale(1.4);margin:40px">Go</button>`),
		snippet("tiny", `<button class=t style="width:2px;height:2px;padding:0;border:0">.</button>`),
		snippet("transparent", `<button class=t style="opacity:0">Go</button>`),
		snippet("sticky", `<button class=t style="position:sticky;top:0">Go</button>`),
		snippet("fixed", `<button class=t style="position:fixed;right:4px;bottom:4px">Go</button>`),
		snippet("display contents", `<div class=t style="display:contents"><button>In</button></div>`),
		snippet("in a scroll box", `<div style="height:60px;overflow:auto"><div style="height:400px"></div><button class=t>Low</button></div>`),
		snippet("in nested scroll boxes", `<div style="height:80px;overflow:auto"><div style="height:300px"></div><div style="height:60px;overflow:auto"><div style="height:300px"></div><button class=t>Low</button></div></div>`),
		snippet("horizontally off-screen", `<div style="width:200px;overflow:auto"><div style="width:2000px"><button class=t style="margin-left:1900px">Far</button></div></div>`),
		snippet("table cell", `<table><tr><td class=t>cell</td></tr></table>`),
		snippet("list item", `<ul><li class=t>item</li></ul>`),
		snippet("summary", `<details><summary class=t>More</summary>text</details>`),
		snippet("partly covered", `<button class=t style="width:200px;height:60px">Go</button><div style="position:absolute;left:50px;top:0;width:100px;height:70px;background:#ccc"></div>`),
		snippet("behind a transparent overlay that lets through", `<button class=t>Go</button><div style="position:absolute;inset:0;pointer-events:none"></div>`),
		snippet("canvas", `<canvas class=t width=60 height=30></canvas>`),
		snippet("label's text", `<label class=t>Name <input></label>`),
		snippet("custom element", `<x-thing class=t style="display:inline-block;width:40px;height:20px">x</x-thing>`),
		snippet("button in a fieldset", `<fieldset><legend>L</legend><button class=t type=button>Go</button></fieldset>`),
		snippet("menu item", `<div role=menu><div role=menuitem class=t>Open</div></div>`),
		snippet("tab", `<div role=tablist><div role=tab class=t tabindex=0>One</div></div>`),
		snippet("option of a listbox", `<ul role=listbox><li role=option class=t>One</li></ul>`),
		snippet("right to left", `<div dir=rtl><button class=t>שלום</button></div>`),
		snippet("vertical writing", `<div style="writing-mode:vertical-rl"><button class=t>縦書き</button></div>`),
		snippet("during a finite transition", `<style>@keyframes m{from{margin-left:0}to{margin-left:120px}}</style><button class=t style="animation:m .5s forwards">Go</button>`),
	}
	list = append(list,
		action{name: "click/double", html: `<button class=t>Go</button><js>` + trusted, do: doClick(func(r *core.ClickRequest) { r.Count = 2 }), check: `logged.includes('dblclick')`},
		action{name: "click/triple selects a line", html: `<p class=t>one two three</p>`, do: doClick(func(r *core.ClickRequest) { r.Count = 3 }), check: `String(getSelection()).trim() === 'one two three'`},
		action{name: "click/right", html: `<button class=t>Go</button><js>t.addEventListener('contextmenu', e => e.preventDefault());` + trusted, do: doClick(func(r *core.ClickRequest) { r.Button = "right" }), check: `logged.includes('contextmenu')`},
		action{name: "click/middle", html: `<button class=t>Go</button><js>` + trusted, do: doClick(func(r *core.ClickRequest) { r.Button = "middle" }), check: `logged.includes('auxclick')`},
		action{name: "click/modifiers", html: `<button class=t>Go</button><js>t.onclick = e => log([e.ctrlKey, e.shiftKey, e.altKey, e.metaKey].join())`, do: doClick(func(r *core.ClickRequest) { r.Modifiers = []string{"control", "shift"} }), check: `logged === 'true,true,false,false'`},
		action{name: "click/checkbox", html: `<input type=checkbox class=t>`, do: doClick(), check: `t.checked`},
		action{name: "click/checkbox hidden behind its label", html: `<label><input type=checkbox class=t style="position:absolute;opacity:0"><span style="display:inline-block;width:40px;height:20px;background:#ccc"></span></label>`, do: doClick(), check: `t.checked`},
		action{name: "click/radio not rendered, shown by its label", html: `<input type=radio class=t id=rz style="display:none"><label for=rz>Choice</label>`, do: doClick(), check: `t.checked`},
		action{name: "click/once per request", html: `<button class=t>0</button><js>t.onclick = () => t.textContent = +t.textContent + 1`, do: doClick(), check: `t.textContent === '1'`},
		action{name: "click/press handler rerenders", html: `<div class=t style="width:60px;height:30px;background:#eee"></div><js>t.onmousedown = () => { t.replaceChildren(document.createElement('b')); log('down'); }; t.onclick = () => log('click')`, do: doClick(), check: `logged === 'down click'`},
		action{name: "click/target removes itself", html: `<button class=t>Go</button><js>t.onclick = () => { log('gone'); t.remove(); }`, do: doClick(), check: `logged === 'gone' && !t`},
	)
	return list
}

func obstacles() []action {
	refuse := func(name, html, says string) action {
		return action{name: "refused/" + name, html: html, do: doClick(), code: fault.ReferenceNotActionable, says: says}
	}
	return []action{
		refuse("covered", `<button class=t>Go</button><div id=cover style="position:absolute;inset:-5px;background:#fff">Notice</div>`, `covered by div#cover`),
		refuse("covered by a dialog", `<button class=t>Go</button><div role=dialog aria-label="Cookies" style="position:absolute;inset:-5px;background:#fff">x</div>`, `covered by dialog "Cookies"`),
		refuse("disabled", `<button class=t disabled>Go</button>`, "disabled"),
		refuse("in a disabled fieldset", `<fieldset disabled><button class=t>Go</button></fieldset>`, "disabled"),
		refuse("aria-disabled", `<button class=t aria-disabled=true>Go</button>`, "disabled"),
		refuse("inert", `<div inert><button class=t>Go</button></div>`, "inert"),
		refuse("not displayed", `<button class=t style="display:none">Go</button>`, "hidden"),
		refuse("invisible", `<button class=t style="visibility:hidden">Go</button>`, "hidden"),
		refuse("without size", `<span class=t></span>`, "hidden"),
		refuse("beyond the document", `<button class=t style="position:absolute;left:-900px">Go</button>`, "off-screen"),
		refuse("clipped away", `<div style="width:20px;height:20px;overflow:clip;position:relative"><button class=t style="position:absolute;left:200px">Go</button></div>`, "covered"),
		refuse("forever moving", `<style>@keyframes f{from{transform:translateX(0)}to{transform:translateX(400px)}}</style><button class=t style="animation:f 1s linear infinite alternate">Go</button>`, "moving"),
		refuse("lets events through", `<div style="position:relative"><button class=t style="pointer-events:none">Go</button></div>`, "covered"),
		{name: "refused/no match", html: ``, do: doClick(), code: fault.NotFound, says: "matches nothing"},
		{name: "refused/several", html: `<button class=t>a</button><button class=t>b</button>`, do: doClick(), code: fault.LocatorNotUnique, says: "2 elements"},
	}
}

func fills() []action {
	var list []action
	for _, c := range []struct{ name, kind, value string }{
		{"text", "text", "Hello"},
		{"search", "search", "query"},
		{"e-mail", "email", "a@b.example"},
		{"url", "url", "https://x.example/?q=1"},
		{"tel", "tel", "+44 20 7946 0000"},
		{"password", "password", "s3cr3t!"},
		{"number", "number", "42.5"},
		{"emoji", "text", "👩‍🚀🚀👍🏽"},
		{"combining", "text", "e\u0301a\u0308"},
		{"right to left", "text", "שלום עולם"},
		{"CJK", "text", "日本語テスト"},
		{"quotes and markup", "text", `<b>"it's" & \n</b>`},
		{"spaces kept", "text", "  a  b  "},
		{"long", "text", longText},
	} {
		list = append(list, action{
			name: "fill/" + c.name, html: `<input class=t type=` + c.kind + ` value="">` + "<js>" + trusted,
			do: doFill(c.value), check: `t.value === ` + jsString(c.value) + ` && logged.includes('input') && !logged.includes('fake')`,
		})
	}
	return append(list,
		action{name: "fill/replaces", html: `<input class=t value="old value">`, do: doFill("new"), check: `t.value === 'new'`},
		action{name: "fill/appends", html: `<input class=t value="old">`, do: doFill(" new", "append"), check: `t.value === 'old new'`},
		action{name: "fill/appends to e-mail", html: `<input type=email class=t value="a@b.example">`, do: doFill(".uk", "append"), check: `t.value === 'a@b.example.uk'`},
		action{name: "fill/empties", html: `<input class=t value="old"><js>` + trusted, do: doFill(""), check: `t.value === '' && logged.includes('input')`},
		action{name: "fill/textarea lines", html: `<textarea class=t>x</textarea>`, do: doFill("one\ntwo\n\nthree"), check: `t.value === 'one\ntwo\n\nthree'`},
		action{name: "fill/controlled", html: `<input class=t value="start"><js>` + controlled, do: doFill("typed"), check: `t.value === 'typed' && $.dataset.model === 'typed'`},
		action{name: "fill/controlled textarea", html: `<textarea class=t>start</textarea><js>` + controlled, do: doFill("typed"), check: `$.dataset.model === 'typed'`},
		action{name: "fill/controlled emptied", html: `<input class=t value="start"><js>` + controlled, do: doFill(""), check: `t.value === '' && $.dataset.model === ''`},
		action{name: "fill/through its label", html: `<label class=t>Name <input></label>`, do: doFill("Ada"), check: `t.control.value === 'Ada'`},
		action{name: "fill/the only field inside", html: `<div class=t><span>Name</span><input></div>`, do: doFill("Ada"), check: `t.querySelector('input').value === 'Ada'`},
		action{name: "fill/formats what it gets", html: `<input class=t><js>t.addEventListener('input', () => { t.value = t.value.replace(/(\d{3})(\d+)/, '($1) $2'); })`, do: doFill("5551234"), check: `t.value === '(555) 1234'`},
		action{name: "fill/limited length", html: `<input class=t maxlength=3>`, do: doFill("abcdef"), check: `t.value === 'abc'`},
		action{name: "fill/combobox", html: `<input class=t role=combobox aria-expanded=false list=dl><datalist id=dl><option value=Paris></datalist>`, do: doFill("Paris"), check: `t.value === 'Paris'`},
		action{name: "fill/covered field is filled all the same", html: `<input class=t><div style="position:absolute;inset:0"></div>`, do: doFill("x"), check: `t.value === 'x'`},
		action{name: "fill/silent no-op fails", html: `<input class=t value=same><js>t.addEventListener('beforeinput', e => e.preventDefault())`, do: doFill("other"), code: fault.InteractionFailed, says: "did not take", check: `t.value === 'same'`},
		action{name: "fill/read-only refused", html: `<input class=t readonly>`, do: doFill("x"), code: fault.ReferenceNotActionable, says: "readonly"},
		action{name: "fill/disabled refused", html: `<input class=t disabled>`, do: doFill("x"), code: fault.ReferenceNotActionable, says: "disabled"},
		action{name: "fill/checkbox refused", html: `<input class=t type=checkbox>`, do: doFill("x"), code: fault.ReferenceNotActionable, says: "checkbox"},
		action{name: "fill/select refused", html: `<select class=t><option>a</select>`, do: doFill("a"), code: fault.ReferenceNotActionable, says: "select"},
		action{name: "fill/text refused by a number", html: `<input class=t type=number>`, do: doFill("abc"), code: fault.InvalidInput, says: "number"},
		action{name: "fill/heading refused", html: `<h2 class=t>x</h2>`, do: doFill("x"), code: fault.ReferenceNotActionable, says: "not editable"},
		action{name: "clear/input", html: `<input class=t value=old><js>` + trusted, do: doClear(), check: `t.value === '' && logged.includes('input')`},
		action{name: "clear/textarea", html: `<textarea class=t>a b</textarea>`, do: doClear(), check: `t.value === ''`},
		action{name: "clear/editor", html: `<div class=t contenteditable>some <b>text</b></div>`, do: doClear(), check: `t.innerText.trim() === ''`},
		action{name: "clear/date", html: `<input type=date class=t value=2020-01-01>`, do: doClear(), check: `t.value === ''`},
		action{name: "clear/empty stays empty", html: `<input class=t>`, do: doClear(), check: `t.value === ''`},
	)
}

func natives() []action {
	var list []action
	for _, c := range []struct{ kind, value, bad string }{
		{"date", "2031-04-09", "9.4.2031"},
		{"time", "13:45", "1:45 pm"},
		{"datetime-local", "2031-04-09T13:45", "2031-04-09"},
		{"month", "2031-04", "April"},
		{"week", "2031-W15", "15"},
		{"color", "#3366cc", "blue"},
		{"range", "70", "many"},
	} {
		list = append(list, action{
			name: "native/" + c.kind, html: `<input class=t type=` + c.kind + `><js>$.addEventListener('input', () => log('input')); $.addEventListener('change', () => log('change'))`,
			do: doFill(c.value), check: `t.value === ` + jsString(c.value) + ` && logged === 'input change'`,
		}, action{
			name: "native/" + c.kind + " refuses an incomplete value", html: `<input class=t type=` + c.kind + `>`, do: doFill(c.bad), code: fault.InvalidInput, says: "complete value",
		})
	}
	return append(list, action{name: "native/controlled date", html: `<input class=t type=date value=2020-01-01><js>` + controlled, do: doFill("2031-04-09"), check: `$.dataset.model === '2031-04-09'`})
}

func editors() []action {
	return []action{
		{name: "editor/plain", html: `<div class=t contenteditable>old <b>bold</b></div><js>` + trusted, do: doFill("new text"), check: `t.innerText.trim() === 'new text' && logged.includes('beforeinput') && !logged.includes('fake')`},
		{name: "editor/append", html: `<div class=t contenteditable>old</div>`, do: doFill(" more", "append"), check: `t.innerText.replace(/\u00a0/g, ' ') === 'old more'`},
		{name: "editor/plaintext-only", html: `<div class=t contenteditable=plaintext-only>old</div>`, do: doFill("new"), check: `t.innerText === 'new'`},
		{name: "editor/emoji", html: `<div class=t contenteditable></div>`, do: doFill("👩‍🚀 e\u0301"), check: `t.innerText.trim() === '👩‍🚀 e\u0301'`},
		{name: "editor/lines", html: `<div class=t contenteditable>old</div>`, do: doFill("one\ntwo"), check: `t.innerText.trim().split(/\n+/).join('|') === 'one|two'`},
		{name: "editor/framework model", html: `<div class=t contenteditable role=textbox>old</div><js>let model = 'old', ok = false; t.addEventListener('beforeinput', e => ok = e.isTrusted); t.addEventListener('input', () => { if (ok) model = t.innerText; ok = false; $.dataset.model = model; })`, do: doFill("new"), check: `$.dataset.model === 'new'`},
		{name: "editor/inside a shell", html: `<div class=t><div contenteditable>old</div></div>`, do: doFill("new"), check: `t.innerText.trim() === 'new'`},
		{name: "editor/nested markup is replaced whole", html: `<div class=t contenteditable><p>one</p><ul><li>two</li></ul></div>`, do: doFill("x"), check: `t.innerText.trim() === 'x'`},
	}
}

func typing() []action {
	var list []action
	for _, c := range []struct{ name, value string }{
		{"lower", "abc"}, {"upper", "ABC"}, {"digits", "0123"}, {"symbols", "!@#$%^&*()_+{}|:\"<>?-=[]\\;',./`~"}, {"accents", "naïve"}, {"emoji", "a🚀b"}, {"cjk", "日本"}, {"rtl", "שלום"}, {"combining", "e\u0301x"}, {"spaces", "a b  c"},
	} {
		list = append(list, action{name: "type/" + c.name, html: `<input class=t><js>` + trusted, do: doType(c.value), check: `t.value === ` + jsString(c.value) + ` && !logged.includes('fake')`})
	}
	return append(list,
		action{name: "type/appends at the end", html: `<input class=t value=ab>`, do: doType("c"), check: `t.value === 'abc'`},
		action{name: "type/key events", html: `<input class=t><js>t.addEventListener('keydown', e => log(e.key + '/' + e.code))`, do: doType("aB"), check: `logged === 'a/KeyA B/KeyB'`},
		action{name: "type/lines", html: `<textarea class=t></textarea>`, do: doType("a\nb"), check: `t.value === 'a\nb'`},
		action{name: "type/editor", html: `<div class=t contenteditable>ab</div>`, do: doType("c"), check: `t.innerText.trim() === 'abc'`},
		action{name: "type/enter submits", html: `<form><input class=t></form><js>t.form.onsubmit = e => { e.preventDefault(); log('submit ' + t.value); }`, do: doType("x\n"), check: `logged === 'submit x'`},
		action{name: "type/disabled refused", html: `<input class=t disabled>`, do: doType("x"), code: fault.ReferenceNotActionable, says: "disabled"},
	)
}

func presses() []action {
	keys := `<input class=t value="hello world"><js>t.addEventListener('keydown', e => log([e.ctrlKey && 'C', e.shiftKey && 'S', e.altKey && 'A', e.metaKey && 'M', e.key].filter(Boolean).join('+')))`
	press := func(name, html, check string, chords ...string) action {
		return action{name: "press/" + name, html: html, do: doPress(chords...), check: check}
	}
	return []action{
		press("enter submits", `<form><input class=t value=x></form><js>t.form.onsubmit = e => { e.preventDefault(); log('submit'); }`, `logged === 'submit'`, "Enter"),
		press("escape", keys, `logged === 'Escape'`, "Escape"),
		press("chord", keys, `logged.endsWith('C+S+K')`, "Control+Shift+K"),
		press("alias", keys, `logged === 'Escape ArrowUp'`, "esc", "Up"),
		press("select all and delete", keys, `t.value === ''`, "Control+A", "Delete"),
		press("backspace", keys, `t.value === 'hello worl'`, "End", "Backspace"),
		press("home and type", keys, `t.value === 'xhello world'`, "Home", "x"),
		press("shift makes upper case", keys, `t.value.endsWith('Q')`, "End", "Shift+q"),
		press("tab moves the focus", `<input class=t><input class=u>`, `document.activeElement.className === 'u'`, "Tab"),
		press("space activates a button", `<button class=t>x</button><js>`+trusted, `logged.includes('click')`, "Space"),
		press("arrows in a select", `<select class=t><option>a<option>b<option>c</select>`, `t.value === 'b'`, "ArrowDown"),
		press("arrows in a radio group", `<input type=radio name=g class=t checked><input type=radio name=g class=u>`, `$.querySelector('.u').checked`, "ArrowRight"),
		press("arrow on a slider", `<input type=range class=t value=50>`, `t.value === '51'`, "ArrowRight"),
		press("plus is a key", keys, `t.value.endsWith('+')`, "End", "+"),
		press("function key", keys, `logged === 'F2'`, "F2"),
		press("a character no key has", keys, `t.value.endsWith('ß')`, "End", "ß"),
		press("releases what it pressed", `<input class=t><js>for (const k of ['keydown', 'keyup']) t.addEventListener(k, e => log(k[3] + e.key))`, `logged === 'dControl dShift dX uX uShift uControl'`, "Control+Shift+X"),
	}
}

func selects() []action {
	html := `<select class=t><option value="">None</option><optgroup label=Paid><option value=t selected>Team</option><option value=b>Business</option></optgroup><option disabled value=d>Off</option></select><js>t.addEventListener('change', () => log('change')); t.addEventListener('input', () => log('input'))`
	many := `<select class=t multiple><option value=a>A<option value=b>B<option value=c>C</select><js>t.addEventListener('change', () => log('change'))`
	return []action{
		{name: "select/value", html: html, do: byValue("b"), check: `t.value === 'b' && logged === 'input change'`},
		{name: "select/empty value", html: html, do: byValue(""), check: `t.value === '' && logged === 'input change'`},
		{name: "select/label", html: html, do: byLabel("Business"), check: `t.value === 'b'`},
		{name: "select/index", html: html, do: byIndex(0), check: `t.selectedIndex === 0`},
		{name: "select/already", html: html, do: byValue("t"), check: `t.value === 't' && logged === ''`},
		{name: "select/several", html: many, do: doSelect(func(r *core.SelectRequest) { r.Values = []string{"a", "c"} }), check: `[...t.selectedOptions].map(o => o.value).join() === 'a,c'`},
		{name: "select/none of several", html: `<select class=t multiple><option selected>A<option>B</select>`, do: doSelect(func(r *core.SelectRequest) { r.Labels = []string{} }), check: `t.selectedOptions.length === 0`},
		{name: "select/controlled", html: `<select class=t><option>a<option>b</select><js>` + controlled, do: byValue("b"), check: `t.value === 'b' && $.dataset.model === 'b'`},
		{name: "select/through its label", html: `<label class=t>Plan <select><option>a<option>b</select></label>`, do: byValue("b"), check: `t.control.value === 'b'`},
		{name: "select/no such", html: html, do: byValue("zz"), code: fault.NotFound, says: "4 options"},
		{name: "select/disabled option", html: html, do: byValue("d"), code: fault.ReferenceNotActionable, says: "option is disabled"},
		{name: "select/custom list refused", html: `<ul class=t role=listbox><li role=option>a</ul>`, do: byLabel("a"), code: fault.ReferenceNotActionable, says: "no native select"},
		{name: "select/two into one refused", html: html, do: doSelect(func(r *core.SelectRequest) { r.Values = []string{"t", "b"} }), code: fault.InvalidInput, says: "only one"},
	}
}

func toggles() []action {
	custom := func(attribute string) string {
		return `<div class=t role=switch tabindex=0 ` + attribute + `=false>x</div><js>t.onclick = e => { if (e.isTrusted) t.setAttribute('` + attribute + `', t.getAttribute('` + attribute + `') === 'true' ? 'false' : 'true'); }`
	}
	return []action{
		{name: "toggle/on", html: `<input type=checkbox class=t>`, do: doToggle("on"), check: `t.checked`},
		{name: "toggle/on when on", html: `<input type=checkbox class=t checked>`, do: doToggle("on"), check: `t.checked`},
		{name: "toggle/off", html: `<input type=checkbox class=t checked>`, do: doToggle("off"), check: `!t.checked`},
		{name: "toggle/flip", html: `<input type=checkbox class=t checked>`, do: doToggle(""), check: `!t.checked`},
		{name: "toggle/mixed to on", html: `<input type=checkbox class=t><js>t.indeterminate = true`, do: doToggle("on"), check: `t.checked && !t.indeterminate`},
		{name: "toggle/radio", html: `<input type=radio name=r1 class=t>`, do: doToggle("on"), check: `t.checked`},
		{name: "toggle/radio off refused", html: `<input type=radio name=r2 class=t checked>`, do: doToggle("off"), code: fault.InvalidInput, says: "radio"},
		{name: "toggle/switch", html: custom("aria-checked"), do: doToggle("on"), check: `t.getAttribute('aria-checked') === 'true'`},
		{name: "toggle/pressed", html: custom("aria-pressed"), do: doToggle("on"), check: `t.getAttribute('aria-pressed') === 'true'`},
		{name: "toggle/expanded", html: custom("aria-expanded"), do: doToggle("on"), check: `t.getAttribute('aria-expanded') === 'true'`},
		{name: "toggle/details", html: `<details class=t><summary>More</summary>text</details>`, do: doToggle("on"), check: `t.open`},
		{name: "toggle/hidden checkbox by its label", html: `<input type=checkbox id=hz class=t style="display:none"><label for=hz>Agree</label>`, do: doToggle("on"), check: `t.checked`},
		{name: "toggle/silent no-op fails", html: `<input type=checkbox class=t><js>t.onclick = e => e.preventDefault()`, do: doToggle("on"), code: fault.InteractionFailed, says: "off, not on", check: `!t.checked`},
		{name: "toggle/button refused", html: `<button class=t>x</button>`, do: doToggle("on"), code: fault.ReferenceNotActionable, says: "no checkbox"},
	}
}

func hovers() []action {
	return []action{
		{name: "hover/style", html: `<style>.m{visibility:hidden}.t:hover .m{visibility:visible}</style><div class=t>Menu<b class=m>open</b></div>`, do: doHover(), check: `getComputedStyle($.querySelector('.m')).visibility === 'visible'`},
		{name: "hover/events", html: `<div class=t>x</div><js>t.onmouseenter = e => log('enter'); t.onpointermove = e => log('move')`, do: doHover(), check: `logged.includes('enter') && logged.includes('move')`},
		{name: "hover/disabled too", html: `<button class=t disabled>x</button>`, do: doHover(), check: `t.matches(':hover')`},
		{name: "hover/covered refused", html: `<div class=t>x</div><div style="position:absolute;inset:-5px;background:#fff"></div>`, do: doHover(), code: fault.ReferenceNotActionable, says: "covered"},
	}
}

func drags() []action {
	native := `<div class=t draggable=true style="width:60px;height:30px;background:#cde">drag</div><div class=goal style="width:120px;height:40px;background:#edc;margin-top:20px">drop</div>
<js>const g = $.querySelector('.goal'); t.ondragstart = e => { e.dataTransfer.setData('text/plain', 'payload'); log('start'); }; g.ondragover = e => e.preventDefault(); g.ondrop = e => { e.preventDefault(); log('drop:' + e.dataTransfer.getData('text/plain')); }; t.ondragend = () => log('end')`
	return []action{
		{
			name: "drag/pointer", html: `<div class=t style="width:40px;height:40px;background:#ccc;touch-action:none"></div><div class=goal style="position:absolute;left:200px;top:0;width:60px;height:60px;background:#eee"></div>
<js>t.onpointerdown = e => { t.setPointerCapture(e.pointerId); log('down'); }; t.onpointermove = e => { if (e.buttons) $.dataset.moves = +($.dataset.moves || 0) + 1; }; t.onpointerup = e => { const b = $.querySelector('.goal').getBoundingClientRect(); log(e.clientX > b.left && e.clientX < b.right ? 'hit' : 'miss'); }`,
			do: doDrag(), check: `logged === 'down hit' && +$.dataset.moves >= 5`,
		},
		{name: "drag/html5", html: native, do: doDrag(), check: `logged === 'start drop:payload end'`},
		{name: "drag/html5 one step", html: native, do: func(e core.Element) (string, any) {
			op, r := doDrag()(e)
			if d, ok := r.(*core.DragRequest); ok {
				d.Steps = 1
			}
			return op, r
		}, check: `logged === 'start drop:payload end'`},
		{name: "drag/link by default", html: `<a class=t href="https://x.example/a">drag me</a>` + receiver("text/uri-list"), do: doDrag(), check: `logged === 'drop:https://x.example/a'`},
		{name: "drag/image by default", html: `<img class=t width=30 height=30 src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">` + receiver("text/html"), do: doDrag(), check: `logged.includes('drop:') && logged.includes('<img')`},
		{name: "drag/effect is kept", html: native + `; t.addEventListener('dragstart', e => e.dataTransfer.effectAllowed = 'move'); g.addEventListener('dragover', e => e.dataTransfer.dropEffect = 'move'); t.addEventListener('dragend', e => log(e.dataTransfer.dropEffect))`, do: doDrag(), check: `logged.endsWith('end move')`},
		{name: "drag/drop refused by the goal", html: strings.Replace(native, "g.ondragover = e => e.preventDefault();", "g.ondragover = () => log('over');", 1), do: doDrag(), check: `logged.startsWith('start over') && logged.endsWith('end') && !logged.includes('drop')`},
		{name: "drag/dragstart prevented goes on as a pointer", html: native + `; t.ondragstart = e => { e.preventDefault(); log('no'); document.addEventListener('mouseup', e => log(g.contains(e.target) ? 'up in goal' : 'up elsewhere'), {once: true}); }`, do: doDrag(), check: `logged === 'no up in goal'`},
		{name: "drag/selects text", html: `<p style="font:16px monospace"><span class=t>first</span> between <span class=goal>second</span></p>`, do: doDrag(), check: `getSelection().toString().includes(' between ')`},
		{name: "drag/over nested scrollers", html: `<div class=outer style="height:120px;width:300px;overflow:auto"><div class=inner style="height:80px;overflow:auto"><div class=t draggable=true style="height:30px">drag</div><div style="height:600px"></div></div><div style="height:30px" class=goal>drop</div><div style="height:600px"></div></div>
<js>const g = $.querySelector('.goal'); t.ondragstart = e => e.dataTransfer.setData('text/plain', 'x'); g.ondragover = e => e.preventDefault(); g.ondrop = e => { e.preventDefault(); log('drop'); }`, do: doDrag(), check: `logged === 'drop'`},
		{name: "drag/slider", html: `<input type=range class=t value=0 style="width:200px"><b class=goal style="display:inline-block;width:20px;height:20px;margin-left:40px"></b>`, do: doDrag(), check: `+t.value > 40`},
	}
}

// receiver is a goal that takes whatever is dropped and logs its data of one type.
func receiver(kind string) string {
	return `<div class=goal style="width:120px;height:40px;background:#edc;margin-top:20px">drop</div>
<js>const g = $.querySelector('.goal'); g.ondragover = e => e.preventDefault(); g.ondrop = e => { e.preventDefault(); log('drop:' + e.dataTransfer.getData('` + kind + `')); }`
}

func scrolls() []action {
	box := `<div class=t style="width:200px;height:80px;overflow:auto"><div style="width:900px;height:900px">x</div></div>`
	return []action{
		{name: "scroll/down", html: box, do: doScroll(0, 300), check: `Math.abs(t.scrollTop - 300) < 2`},
		{name: "scroll/right", html: box, do: doScroll(250, 0), check: `Math.abs(t.scrollLeft - 250) < 2`},
		{name: "scroll/up from below", html: box + `<js>t.scrollTop = 500`, do: doScroll(0, -200), check: `Math.abs(t.scrollTop - 300) < 2`},
		{name: "scroll/clamped at the end", html: box, do: doScroll(0, 100000), check: `t.scrollTop >= 820 - 20`},
		{name: "scroll/container of a target", html: `<div class=box style="height:80px;overflow:auto"><p class=t>x</p><div style="height:900px"></div></div>`, do: doScroll(0, 200), check: `Math.abs($.querySelector('.box').scrollTop - 200) < 2`},
		{name: "scroll/into view", html: `<div style="height:80px;overflow:auto"><div style="height:700px"></div><button class=t>low</button></div>`, do: doBring(), check: `(b => b.top >= 0 && b.bottom <= innerHeight)(t.getBoundingClientRect()) && t.closest('div').scrollTop > 500`},
		{name: "scroll/snap points", html: `<div class=t style="height:100px;overflow:auto;scroll-snap-type:y mandatory"><div style="height:100px;scroll-snap-align:start">1</div><div style="height:100px;scroll-snap-align:start">2</div><div style="height:100px;scroll-snap-align:start">3</div></div>`, do: doScroll(0, 90), check: `t.scrollTop === 100`},
		{name: "scroll/into view of what is hidden fails", html: `<button class=t style="display:none">x</button>`, do: doBring(), code: fault.InteractionFailed, says: "not rendered", check: `true`},
	}
}

func uploads(report, second string) []action {
	names := `[...$.querySelector('input[type=file]').files].map(f => f.name).join()`
	return []action{
		{name: "upload/input", html: `<input type=file class=t>`, do: doUpload(report), check: names + ` === 'report.txt'`},
		{name: "upload/several", html: `<input type=file multiple class=t>`, do: doUpload(report, second), check: names + ` === 'report.txt,second.txt'`},
		{name: "upload/label", html: `<label class=t>Pick <input type=file style="display:none"></label>`, do: doUpload(report), check: names + ` === 'report.txt'`},
		{name: "upload/button beside", html: `<div><button class=t>Pick</button><input type=file hidden></div>`, do: doUpload(report), check: names + ` === 'report.txt'`},
		{name: "upload/change event", html: `<input type=file class=t><js>t.onchange = async () => log(await t.files[0].text())`, do: doUpload(report), check: `logged === 'hello'`},
		{name: "upload/several inputs refused", html: `<button class=t>Pick</button><input type=file><input type=file>`, do: doUpload(report), code: fault.LocatorNotUnique, says: "native file inputs"},
		{name: "upload/two into one refused", html: `<input type=file class=t>`, do: doUpload(report, second), code: fault.InvalidInput, says: "only one"},
		{name: "upload/missing file refused", html: `<input type=file class=t>`, do: doUpload(report + ".missing"), code: fault.InvalidInput, says: "no such file"},
	}
}
