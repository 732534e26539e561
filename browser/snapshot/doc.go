// Package snapshot acquires the structure of pages: a walk in an isolated world of every frame, closed shadow
// roots and out-of-process frames included, and the references that later actions resolve.
package snapshot
