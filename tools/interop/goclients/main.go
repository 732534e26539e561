// Command goclients tries one Go MCP client against a server: goclients go-sdk|mcp-go PROGRAM
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// session is what both clients are asked to do.
type session interface {
	// tools lists the names of all tools, following cursors.
	tools(ctx context.Context) ([]string, error)
	// call returns the text of a tool's answer and whether it is an error.
	call(ctx context.Context, tool string, arguments map[string]any) (text string, failed bool, err error)
	close() error
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "goclients:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: goclients go-sdk|mcp-go PROGRAM")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	open := map[string]func(context.Context, string) (session, error){"go-sdk": openSDK, "mcp-go": openMCPGo}[args[0]]
	if open == nil {
		return errors.New("unknown client " + args[0])
	}
	s, err := open(ctx, args[1])
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(try(ctx, s), s.close())
}

func try(ctx context.Context, s session) error {
	names, err := s.tools(ctx)
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	fmt.Println(len(names), "tools")
	if !slices.IsSorted(names) || !slices.Contains(names, "browser_status") {
		return fmt.Errorf("unexpected tools: %v", names)
	}
	text, failed, err := s.call(ctx, "browser_status", nil)
	if err != nil || failed {
		return fmt.Errorf("browser_status: failed=%t %w\n%s", failed, err, text)
	}
	fmt.Println(text)
	text, failed, err = s.call(ctx, "browser_status", map[string]any{"nonsense": 1})
	if err == nil && !failed {
		return fmt.Errorf("an unknown argument was accepted: %s", text)
	}
	return nil
}
