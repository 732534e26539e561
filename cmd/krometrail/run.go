package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/setup"
	"github.com/krometrail/krometrail/core/fault"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// streams are the process's own, or a test's.
type streams struct {
	ctx    context.Context //nolint:containedctx // the lifetime of one command line, handed to kong's Run methods
	in     io.Reader
	out    io.Writer
	err    io.Writer
	env    func(string) (string, bool)
	config *config.Config
}

// cli is the command line.
type cli struct {
	Config              string  `help:"Configuration file." placeholder:"FILE"`
	DataDir             *string `help:"Root of recordings, profiles and diagnostics." placeholder:"DIR"`
	DiskBudgetBytes     *string `help:"Total disk budget over all running instances." placeholder:"BYTES"`
	RetentionMaxAgeSecs *string `help:"Age at which evidence expires; 0 = never." placeholder:"SECS"`
	Chrome              *string `help:"Browser to launch." placeholder:"PATH"`
	ProfileRoot         *string `help:"Root of managed profiles." placeholder:"DIR"`
	Capabilities        *string `help:"Wanted capabilities, comma separated." placeholder:"NAMES"`
	Tools               *string `help:"Tool set: full or lean." placeholder:"SET"`
	RecordBrowserEvents *string `help:"Record console, exceptions and network metadata: true or false." placeholder:"BOOL"`
	Sandbox             *string `help:"Browser sandbox: auto, on or off." placeholder:"MODE"`
	LogLevel            *string `help:"debug, info, warn or error." placeholder:"LEVEL"`

	MCP     mcpCommand     `cmd:"" name:"mcp" help:"Serve MCP on standard input and output. This is what an agent host starts."`
	Demo    demoCommand    `cmd:"" help:"Record a page whose panel flashes, and write the pictures of it."`
	Doctor  doctorCommand  `cmd:"" help:"Check the installation and say what is missing."`
	Setup   setupCommand   `cmd:"" help:"Show how an agent host starts krometrail."`
	Show    configCommand  `cmd:"" name:"config" help:"Show the effective configuration and where each value comes from."`
	Version versionCommand `cmd:"" help:"Show the version."`
}

func (c *cli) flags() map[string]string {
	flags := map[string]string{}
	for key, value := range map[string]*string{
		"data_dir": c.DataDir, "disk_budget_bytes": c.DiskBudgetBytes, "retention_max_age_secs": c.RetentionMaxAgeSecs,
		"chrome": c.Chrome, "profile_root": c.ProfileRoot, "capabilities": c.Capabilities, "tools": c.Tools,
		"record_browser_events": c.RecordBrowserEvents, "sandbox": c.Sandbox, "log_level": c.LogLevel,
	} {
		if value != nil {
			flags[key] = *value
		}
	}
	return flags
}

// run parses the command line, loads the configuration and runs the command. It never exits the process.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, env func(string) (string, bool)) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("krometrail"), kong.Description("Drives Chrome for coding agents and records what every page really showed."),
		kong.Vars{"hosts": strings.Join(setup.Hosts(), ",")}, kong.Writers(out, errs), kong.Exit(func(code int) { exited = code }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return report(errs, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	selected, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(errs, "error[%s] %s\nrecovery: krometrail %s--help lists what it takes\n", fault.InvalidInput, usage(err), commandOf(err))
		return exitUsage
	}
	s := &streams{ctx: ctx, in: in, out: out, err: errs, env: env}
	if s.config, err = config.Load(config.Sources{Flags: c.flags(), Env: env, File: c.Config}); err != nil {
		report(errs, err)
		return exitUsage
	}
	if err := selected.Run(s); err != nil {
		return report(errs, err)
	}
	return exitOK
}

// usage keeps the parser's sentence without the value it quotes.
func usage(err error) string {
	where := "the command line"
	if command := commandOf(err); command != "" {
		where += " of " + strings.TrimSpace(command)
	}
	return where + " has an argument that is unknown, missing or malformed"
}

// commandOf is the name of the command that could not be parsed and a space, "" when there is none.
func commandOf(err error) string {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return ""
	}
	name, _, _ := strings.Cut(parse.Context.Command(), " ")
	if name == "" {
		return ""
	}
	return name + " "
}

// report writes a failure in the form that people and scripts read.
func report(w io.Writer, err error) int {
	f := fault.From(err)
	fmt.Fprintf(w, "error[%s] %s\n", f.Code, f.Message)
	if f.Recovery != "" {
		fmt.Fprintf(w, "recovery: %s\n", f.Recovery)
	}
	return exitFailure
}
