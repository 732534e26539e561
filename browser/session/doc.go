// Package session is the life of the one browser session: start or attach, supervision, reconnection, page
// commands and the end. It wires the other browser packages together.
package session
