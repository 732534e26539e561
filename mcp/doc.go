// Package mcp offers the operation registry over the Model Context Protocol: catalogue makes the tools, present
// shows the answers, resource serves evidence, stdio speaks the protocol and client is its other end.
package mcp
