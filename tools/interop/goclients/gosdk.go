package main

import (
	"context"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkSession is a session of the go-sdk client.
type sdkSession struct{ client *mcp.ClientSession }

func openSDK(ctx context.Context, program string) (session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "krometrail-interop", Version: "1.0.0"}, nil)
	connected, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(program, "mcp")}, nil)
	if err != nil {
		return nil, err
	}
	return sdkSession{connected}, nil
}

func (s sdkSession) tools(ctx context.Context) ([]string, error) {
	var names []string
	for tool, err := range s.client.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s sdkSession) call(ctx context.Context, tool string, arguments map[string]any) (text string, failed bool, err error) {
	result, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", false, err
	}
	var parts []string
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, ""), result.IsError, nil
}

func (s sdkSession) close() error { return s.client.Close() }
