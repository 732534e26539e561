// Package setup knows how agent hosts are told to start the program.
package setup

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/krometrail/krometrail/core/fault"
)

// server is the entry that most hosts share.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Hosts lists the hosts that Text knows.
func Hosts() []string { return []string{"claude", "codex", "cursor", "gemini", "vscode", "other"} }

// Text is what to run or to paste for a host. It changes nothing by itself.
func Text(host string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		program = "krometrail"
	}
	entry := server{Command: program, Args: []string{"mcp"}}
	switch host {
	case "claude":
		return fmt.Sprintf("Run once:\n  claude mcp add --scope user krometrail -- %q mcp\n", program), nil
	case "codex":
		return fmt.Sprintf("Run once:\n  codex mcp add krometrail -- %q mcp\n", program), nil
	case "gemini":
		return fmt.Sprintf("Run once:\n  gemini mcp add --scope user krometrail %q mcp\n", program), nil
	case "cursor":
		return paste("~/.cursor/mcp.json", "mcpServers", entry)
	case "vscode":
		entry.Type = "stdio"
		return paste(".vscode/mcp.json", "servers", entry)
	case "other":
		return paste("the host's MCP configuration", "mcpServers", entry)
	}
	return "", fault.Input("host", "is not a known host; use other")
}

func paste(where, key string, entry server) (string, error) {
	raw, err := json.MarshalIndent(map[string]any{key: map[string]any{"krometrail": entry}}, "", "  ")
	if err != nil {
		return "", fault.From(err)
	}
	return fmt.Sprintf("Put this into %s:\n%s\n", where, raw), nil
}
