package stdio

import (
	"os"
	"testing"

	foreign "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLibrarysClient drives the server process with a client that knows nothing of this package.
func TestTheLibrarysClient(t *testing.T) {
	for _, version := range []string{v26, v25, v18} {
		t.Run(version, func(t *testing.T) {
			pipe := transport.NewStdio(os.Args[0], append(os.Environ(), serveVariable+"=1"))
			c := foreign.NewClient(pipe, foreign.WithProtocolVersion(version))
			require.NoError(t, c.Start(t.Context()))
			var hello mcp.InitializeRequest
			hello.Params.ProtocolVersion = version
			hello.Params.ClientInfo = mcp.Implementation{Name: "foreign", Version: "1"}
			settled, err := c.Initialize(t.Context(), hello)
			require.NoError(t, err)
			assert.Equal(t, version, settled.ProtocolVersion)

			tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Len(t, tools.Tools, 6)
			var echo mcp.CallToolRequest
			echo.Params.Name, echo.Params.Arguments = "echo", map[string]any{"a": 1}
			answer, err := c.CallTool(t.Context(), echo)
			require.NoError(t, err)
			assert.JSONEq(t, `{"a":1}`, answer.Content[0].(mcp.TextContent).Text)
			var read mcp.ReadResourceRequest
			read.Params.URI = "test://thing/here"
			thing, err := c.ReadResource(t.Context(), read)
			require.NoError(t, err)
			assert.Len(t, thing.Contents, 1)
			read.Params.URI = "test://thing/gone"
			_, err = c.ReadResource(t.Context(), read)
			require.Error(t, err)
			templates, err := c.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
			require.NoError(t, err)
			assert.Len(t, templates.ResourceTemplates, 1)
			require.NoError(t, c.Close())
		})
	}
}
