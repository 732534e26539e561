package stdio

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// CatalogueTTL is how long, in milliseconds, a modern client may keep tool pages and resource templates.
const CatalogueTTL = 60_000

// Identity is what the server says about itself.
type Identity struct {
	Name, Title, Version string
	// Instructions is guidance for the model, sent in initialize and server/discover.
	Instructions string
}

// NewProtocol returns mcp-go's server set up the way Loop expects it: tools and resources that never change,
// private cache hints, legacy logging, no prompts. Add tools and resource templates to it, then give it to New.
func NewProtocol(id Identity) *server.MCPServer {
	return server.NewMCPServer(id.Name, id.Version,
		server.WithTitle(id.Title),
		server.WithInstructions(id.Instructions),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithLogging(),
		server.WithMethodCacheHints(mcp.MethodToolsList, CatalogueTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesTemplatesList, CatalogueTTL, mcp.CacheScopePrivate),
		server.WithToolHandlerMiddleware(aroundTool),
		server.WithResourceHandlerMiddleware(aroundResource),
	)
}

// aroundTool gives a handler its arguments as the client wrote them, in RawArguments alone: the library would
// read them several times over, which counts at their possible size. It also keeps the handler's error, of
// which the library only sends the text.
func aroundTool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r := requestFrom(ctx); r != nil && !isNull(r.params["arguments"]) {
			call.Params.RawArguments = r.params["arguments"]
		}
		result, err := next(ctx, call)
		note(ctx, err)
		return result, err
	}
}

func aroundResource(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
	return func(ctx context.Context, read mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		contents, err := next(ctx, read)
		note(ctx, err)
		return contents, err
	}
}

func note(ctx context.Context, err error) {
	if r := requestFrom(ctx); r != nil && err != nil {
		r.fail(err)
	}
}

// session is what the library sees of a connection during one request.
type session struct {
	version string
	level   *logLevel
}

var (
	_ server.ClientSession              = (*session)(nil)
	_ server.SessionWithLogging         = (*session)(nil)
	_ server.SessionWithProtocolVersion = (*session)(nil)
)

// SessionID implements server.ClientSession.
func (s *session) SessionID() string { return "stdio" }

// Initialize implements server.ClientSession.
func (s *session) Initialize() {}

// Initialized implements server.ClientSession.
func (s *session) Initialized() bool { return true }

// NotificationChannel implements server.ClientSession. Nothing is sent through the library: its channel would
// not keep the order of notifications and responses.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// ProtocolVersion implements server.SessionWithProtocolVersion.
func (s *session) ProtocolVersion() string { return s.version }

// SetLogLevel implements server.SessionWithLogging.
func (s *session) SetLogLevel(level mcp.LoggingLevel) { s.level.set(string(level)) }

// GetLogLevel implements server.SessionWithLogging.
func (s *session) GetLogLevel() mcp.LoggingLevel { return mcp.LoggingLevel(s.level.get()) }
