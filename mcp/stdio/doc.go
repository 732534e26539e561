// Package stdio serves the Model Context Protocol on one pair of byte streams.
//
// The message types, era handling and result stamping are those of mcp-go's MCPServer; this package is the loop
// around its HandleMessage. The loop owns what a stream needs and the library leaves open: which versions are
// spoken, identifiers echoed exactly as sent, bounded lines, cancellation that cannot be lost, progress that
// never trails its response, an output nobody has to read, and an end within one budget.
//
// One goroutine reads and admits messages in order; every tool call and resource read runs on a goroutine of its
// own; one goroutine writes. The reader never waits for a handler or for the client's reading.
package stdio
