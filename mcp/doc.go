// Package mcp is the parent of the packages that present the operation registry over the Model Context Protocol.
package mcp
