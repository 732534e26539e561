package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/krometrail/krometrail/tools/fixtures"
)

// caseTime bounds one case.
const caseTime = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	pattern := flags.String("run", "", "play only cases whose \"file/name\" matches")
	verbose := flags.Bool("v", false, "show the program's standard error")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("usage: corpus [-run REGEXP] [-v] PROGRAM")
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	cases, err := loadCases()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "krometrail-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	server, err := fixtures.Serve("0")
	if err != nil {
		return err
	}
	defer server.Close()
	p, err := start(ctx, flags.Arg(0), temp, *verbose)
	if err != nil {
		return err
	}
	p.values = map[string]string{"URL": server.URL, "TMP": temp}
	return errors.Join(p.playAll(ctx, cases, wanted, out), p.session.Close())
}

// start runs the program with a data directory of its own and a file to upload.
func start(ctx context.Context, program, temp string, verbose bool) (*player, error) {
	if err := os.WriteFile(filepath.Join(temp, "report.txt"), []byte("hello-upload from the corpus\n"), 0o600); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "mcp")
	command.Env = append(os.Environ(), "KROMETRAIL_DATA_DIR="+filepath.Join(temp, "data"))
	if verbose {
		command.Stderr = os.Stderr
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "krometrail-corpus", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command, TerminateDuration: 35 * time.Second}, nil)
	if err != nil {
		return nil, err
	}
	return &player{session: session}, nil
}

func (p *player) playAll(ctx context.Context, cases []testcase, wanted *regexp.Regexp, out io.Writer) error {
	passed, failed := 0, 0
	for _, c := range cases {
		name := c.file + "/" + c.name
		if !wanted.MatchString(name) || ctx.Err() != nil {
			continue
		}
		began := time.Now()
		limited, cancel := context.WithTimeout(ctx, caseTime)
		err := p.play(limited, c)
		cancel()
		spent := time.Since(began).Round(10 * time.Millisecond)
		if err != nil {
			failed++
			fmt.Fprintf(out, "FAIL %s (%s)\n     %v\n", name, spent, err)
			continue
		}
		passed++
		fmt.Fprintf(out, "ok   %s (%s)\n", name, spent)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return ctx.Err()
}
