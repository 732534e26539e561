// Package input performs actions on pages with trusted input: it finds what an action is about, checks that the
// input will reach it, sends the input, waits for the renderer and reports what changed. It implements
// control.Driver; each operation is one entry of a table.
package input
