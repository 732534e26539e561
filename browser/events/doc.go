// Package events turns what Chrome tells about a page besides its pixels into browser events: console messages,
// exceptions, requests, navigations, dialogs, downloads, targets and visibility.
//
// Taps on the connection's reader only put a message into a bounded queue; one goroutine decodes, redacts, bounds
// and writes in batches. A full queue loses events, never time: what is lost becomes a gap on the timeline.
//
// Headers, cookies, authentication values and bodies are not collected: the messages that carry only those are
// not listened to, and the decoded shapes have no field for them.
package events
