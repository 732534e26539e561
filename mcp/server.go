package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"log/slog"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/mcp/catalogue"
	"github.com/krometrail/krometrail/mcp/present"
	"github.com/krometrail/krometrail/mcp/resource"
	"github.com/krometrail/krometrail/mcp/stdio"
)

// instructions go into every conversation of a host, so they stay below 2 KiB.
//
//go:embed instructions.md
var instructions string

// Executor runs an operation on a decoded request; the outcome always has a status.
type Executor interface {
	Execute(ctx context.Context, op capability.Op, request any) capability.Outcome
}

// Config is what a server is made of. All fields but Drain are required.
type Config struct {
	// Version is the program's.
	Version  string
	Registry *capability.Registry
	// Tools is full or lean.
	Tools     catalogue.Set
	Executor  Executor
	Resources resource.Reader
	Clock     clock.Clock
	// Log must redact: causes of failures are logged, never shown.
	Log *slog.Logger
	// Drain stops the browser and its recording at the end of a connection; see stdio.WithDrain.
	Drain func(context.Context) error
}

// Server offers the registry's operations as tools.
type Server struct {
	catalogue *catalogue.Catalogue
	executor  Executor
	clock     clock.Clock
	log       *slog.Logger
	loop      *stdio.Loop
	unlisted  *unlisted
}

// New builds the catalogue and the loop around it. An operation that makes no valid tool is an error.
func New(c Config) (*Server, error) {
	tools, err := catalogue.New(c.Registry, c.Tools)
	if err != nil {
		return nil, err
	}
	s := &Server{catalogue: tools, executor: c.Executor, clock: c.Clock, log: c.Log, unlisted: newUnlisted(tools)}
	identity := stdio.Identity{Name: "krometrail", Title: "Krometrail", Version: c.Version, Instructions: instructions}
	proto := stdio.NewProtocol(identity)
	for _, tool := range tools.Tools() {
		if !tool.Hidden {
			proto.AddTool(tool.Descriptor(), s.handler(&tool))
		}
	}
	resource.Register(proto, c.Resources)
	options := []stdio.Option{stdio.WithLogger(c.Log)}
	if c.Drain != nil {
		options = append(options, stdio.WithDrain(c.Drain))
	}
	s.loop, err = stdio.New(proto, identity, c.Clock, options...)
	return s, err
}

// Serve serves one connection; see stdio.Loop.Serve.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.loop.Serve(ctx, in, out)
}

// Hidden lists the tools that only batch steps can use.
func (s *Server) Hidden() []string { return s.catalogue.Hidden() }

// Catalogue returns the tools.
func (s *Server) Catalogue() *catalogue.Catalogue { return s.catalogue }

// Execute runs one operation by name on raw arguments, hidden ones too: the steps of a batch.
func (s *Server) Execute(ctx context.Context, name string, arguments json.RawMessage) capability.Outcome {
	tool, ok := s.catalogue.Tool(name)
	if !ok {
		return failed("decode", fault.Input("tool", "is no tool of this configuration"))
	}
	request, err := tool.DecodeStep(arguments)
	if err != nil {
		return failed("decode", err)
	}
	return s.unlisted.amend(s.executor.Execute(ctx, tool.Op, request))
}

func failed(stage string, err error) capability.Outcome {
	return capability.Outcome{Status: capability.Failed, Err: fault.From(err), Stage: stage}
}

// handler is one tool: decode, execute, show.
func (s *Server) handler(tool *catalogue.Tool) func(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
	return func(ctx context.Context, call protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		request, shown, err := tool.Decode(call.Params.RawArguments)
		if err != nil {
			return s.show(ctx, tool, failed("decode", err), shown), nil
		}
		under, stop := s.progress(ctx, tool.Op.Name)
		out := s.executor.Execute(under, tool.Op, request)
		stop()
		return s.show(ctx, tool, out, shown), nil
	}
}

func (s *Server) show(ctx context.Context, tool *catalogue.Tool, out capability.Outcome, shown catalogue.Presentation) *protocol.CallToolResult {
	// The answer of a cancelled or ending request is made all the same: its owner finished the operation.
	out = s.unlisted.amend(out)
	answer := present.Show(context.WithoutCancel(ctx), tool.Op.Spec, out, present.Detail(shown.Detail), shown.InlineImages)
	if d := answer.Envelope.Diagnostics; d != nil {
		s.log.Info("tool did not succeed", "tool", tool.Op.Name, "status", string(answer.Envelope.Status), "correlation_id", d.CorrelationID,
			"stage", d.Stage, "cause", string(d.Cause), "error", causes(out.Err))
	}
	return answer.Result()
}

// causes joins a fault's causes for the log.
func causes(f *fault.Error) string {
	if f == nil {
		return ""
	}
	text := string(f.Code)
	for err := f.Unwrap(); err != nil; {
		text += ": " + err.Error()
		next, ok := err.(interface{ Unwrap() error })
		if !ok {
			break
		}
		err = next.Unwrap()
	}
	return text
}
