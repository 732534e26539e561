package snapshot

import (
	"embed"
	"strings"
	"sync"
)

//go:embed script/*.js
var scripts embed.FS

// parts in the order in which they depend on each other.
var parts = []string{"base", "names", "walk", "act", "edit", "scroll", "tail"}

// source is the function that installs the script in a world: it takes the generation and returns nothing.
var source = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("(generation => {\n'use strict';\nif (globalThis.__krometrail) { globalThis.__krometrail.gen = generation; return; }\nconst gen = generation;\n")
	for _, part := range parts {
		text, err := scripts.ReadFile("script/" + part + ".js")
		if err != nil {
			panic(err) // the file is part of the program
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	b.WriteString("globalThis.__krometrail = K;\n})")
	return b.String()
})

// invoke is the function that each call runs: it finds the installed script and refuses another generation.
const invoke = `async function(g, m, ...a) { const k = globalThis.__krometrail; if (!k || k.gen !== g) return {gone: true}; return {value: await k[m](...a)}; }`

// lookup is invoke for a result that stays in the page.
const lookup = `function(g, m, ...a) { const k = globalThis.__krometrail; if (!k || k.gen !== g) return null; return k[m](...a); }`
