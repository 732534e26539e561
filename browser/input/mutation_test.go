package input_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mutations are what pages do to lists between a snapshot and an action. i and j are positions.
var mutations = []string{
	`list.children[i]?.remove()`,
	`list.children[i]?.replaceWith(fresh(list.children[i].textContent))`,
	`list.insertBefore(list.children[i] ?? null, list.children[j] ?? null)`,
	`list.insertBefore(fresh('New'), list.children[i] ?? null)`,
	`list.replaceChildren(...[...list.children].map(b => fresh(b.textContent)))`,
	`list.replaceChildren(...[...list.children].reverse())`,
	`if (list.children[i]) list.children[i].textContent = 'Renamed'`,
	`if (list.children[i]) list.children[i].hidden = true`,
	`if (list.children[i]) list.children[i].disabled = true`,
	`list.style.paddingTop = (i * 37) + 'px'`,
	`list.prepend(Object.assign(document.createElement('div'), {style: 'height:' + (i * 11) + 'px'}))`,
	`document.body.append(Object.assign(document.createElement('div'), {className: 'veil', style: 'position:fixed;inset:0;background:#fff8'}))`,
}

const mutable = `<!doctype html><style>button{display:block;width:120px;height:24px}</style><div id=list></div><script>
const list = document.querySelector('#list'); let clicked = [];
function fresh(text) { const b = document.createElement('button'); b.textContent = text; b.onclick = e => clicked.push([b.original ?? 'other', e.isTrusted].join()); return b; }
function reset() { document.querySelectorAll('.veil').forEach(v => v.remove()); list.style.paddingTop = 0; clicked = [];
  list.replaceChildren(...Array.from({length: 8}, (_, k) => { const b = fresh('Item'); b.original = k; b.setAttribute('aria-label', 'Item ' + k); return b; })); }
</script>`

type mutation struct {
	Kind, I, J int
	// Delay in milliseconds; -1 is before the action is resolved.
	Delay int
}

// TestRandomMutationsNeverMisdirectAClick: the action hits the node that the reference named, or fails and hits nothing.
func TestRandomMutationsNeverMisdirectAClick(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, mutable)
	plan := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) mutation {
		return mutation{
			Kind: rapid.IntRange(0, len(mutations)-1).Draw(t, "kind"), I: rapid.IntRange(0, 8).Draw(t, "i"), J: rapid.IntRange(0, 8).Draw(t, "j"),
			Delay: rapid.SampledFrom([]int{-1, -1, 0, 1, 2, 4, 8, 16, 24}).Draw(t, "delay"),
		}
	}), 1, 4)
	hits, misses := 0, 0
	for seed := range 120 {
		steps, goal := plan.Example(seed), seed%8
		text(t, s, "reset()")
		found, err := b.observer.Query(t.Context(), core.QueryRequest{Scope: core.Scope{Target: s.Target()}, Query: fmt.Sprintf(`name="Item %d"`, goal)})
		require.NoError(t, err)
		require.NotEmpty(t, found.Ref)
		var script strings.Builder
		for _, m := range steps {
			body := fmt.Sprintf("{const i = %d, j = %d; try { %s } catch {}}", m.I, m.J, mutations[m.Kind])
			if m.Delay >= 0 {
				body = fmt.Sprintf("setTimeout(() => %s, %d);", body, m.Delay)
			}
			script.WriteString(body)
		}
		text(t, s, "(() => {"+script.String()+"})()")
		o := b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: found.Ref}})
		clicked := text(t, s, "clicked.join(';')")
		switch {
		case o.err == nil:
			hits++
			assert.Contains(t, []string{fmt.Sprintf("%d,true", goal), ""}, clicked, "seed %d %+v", seed, steps)
			if clicked == "" {
				// Pressed, and gone before the release made it a click: nothing else was hit, and the answer says so.
				assert.Contains(t, o.observation.Post.Expectation, "no click followed", "seed %d", seed)
			}
		default:
			misses++
			assert.Contains(t, []fault.Code{fault.StaleReference, fault.ReferenceNotActionable}, fault.CodeOf(o.err), "seed %d: %v", seed, o.err)
			assert.Empty(t, clicked, "seed %d %+v: %v", seed, steps, o.err)
		}
	}
	t.Logf("%d clicks reached their node, %d ended without reaching any", hits, misses)
	assert.Positive(t, hits)
	assert.Positive(t, misses)
}
