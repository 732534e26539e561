package main

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcpgoSession is a session of the mcp-go client.
type mcpgoSession struct{ client *client.Client }

func openMCPGo(ctx context.Context, program string) (session, error) {
	c, err := client.NewStdioMCPClient(program, nil, "mcp")
	if err != nil {
		return nil, err
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "krometrail-interop", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, request); err != nil {
		_ = c.Close() // the first error is the one to tell
		return nil, err
	}
	return mcpgoSession{c}, nil
}

func (s mcpgoSession) tools(ctx context.Context) ([]string, error) {
	result, err := s.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s mcpgoSession) call(ctx context.Context, tool string, arguments map[string]any) (text string, failed bool, err error) {
	var request mcp.CallToolRequest
	request.Params.Name = tool
	request.Params.Arguments = arguments
	result, err := s.client.CallTool(ctx, request)
	if err != nil {
		return "", false, err
	}
	var parts []string
	for _, c := range result.Content {
		if t, ok := c.(mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, ""), result.IsError, nil
}

func (s mcpgoSession) close() error { return s.client.Close() }
