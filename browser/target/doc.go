// Package target keeps the map of a browser's pages: discovery, attachment before the first paint,
// openers, closure and selection. One goroutine owns the map; readers get immutable views.
package target
