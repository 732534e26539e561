// Package page is one browser page as the other packages see it: commands with deadlines that know about
// dialogs and crashes, events, child sessions of out-of-process frames, documents and script worlds.
package page
