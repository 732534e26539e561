package observe_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected texts")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(browsertest.Run(m))
}

// single finds the one page of a test.
type single struct{ s *page.Session }

func (p single) Page(id.Target) (*page.Session, error) { return p.s, nil }

// section is one part of a behaviour file: "-- head --" and the lines below it.
type section struct{ head, body string }

var headLine = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// parse reads a behaviour file: what it shows, then page.html, then calls with the text that an agent reads.
func parse(raw string) (comment string, sections []section) {
	marks := headLine.FindAllStringSubmatchIndex(raw, -1)
	if len(marks) == 0 {
		return raw, nil
	}
	for i, m := range marks {
		end := len(raw)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		sections = append(sections, section{raw[m[2]:m[3]], raw[m[1]:end]})
	}
	return raw[:marks[0][0]], sections
}

// TestBehaviour runs testdata/*.txtar: a page, calls, and the text each call answers.
func TestBehaviour(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { behave(t, file) })
	}
}

func behave(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	comment, sections := parse(string(raw))
	require.Equal(t, "page.html", sections[0].head)
	html := sections[0].body
	b := browsertest.Start(t)
	if strings.Contains(html, "{cross}") {
		html = strings.ReplaceAll(html, "{cross}", browsertest.CrossSite(b.URL(`<title>other site</title><button>Pay</button>`)))
	}
	s := browsertest.Page(t, html)
	o := observe.New(single{s}, snapshot.NewRegistry(), observe.NewRing())
	out := comment + "-- page.html --\n" + sections[0].body
	for _, c := range sections[1:] {
		got := call(t, o, s, c.head)
		if !*update {
			assert.Equal(t, c.body, got, "-- %s --", c.head)
		}
		out += "-- " + c.head + " --\n" + got
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
	}
}

// call runs one call and returns its text with what differs from run to run replaced.
func call(t *testing.T, o *observe.Observer, s *page.Session, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	name, rest, _ := strings.Cut(text, " ")
	scope := core.Scope{Target: s.Target()}
	var lines []string
	var err error
	switch name {
	case "snapshot":
		lines, err = snapshotLines(ctx, o, scope, rest)
	case "query":
		lines, err = queryLines(ctx, o, scope, rest)
	case "script":
		err = s.Send(ctx, "Runtime.evaluate", map[string]any{"expression": rest, "awaitPromise": true}, nil)
	case "wait":
		lines, err = waitLines(ctx, o, scope, rest)
	default:
		t.Fatalf("no such call: %s", name)
	}
	if err != nil {
		f := fault.From(err)
		lines = append(lines, string(f.Code)+": "+f.Message, "recovery: "+f.Recovery)
	}
	return stable(strings.Join(lines, "\n"))
}

func snapshotLines(ctx context.Context, o *observe.Observer, scope core.Scope, rest string) ([]string, error) {
	detail, frames, _ := strings.Cut(rest, " ")
	snap, err := o.Snapshot(ctx, core.SnapshotRequest{Scope: scope, Frames: frames})
	if err != nil {
		return nil, err
	}
	switch detail {
	case "full":
		return snap.Full().Lines(), nil
	case "expanded":
		return snap.Expanded().Lines(), nil
	}
	return snap.Concise().Lines(), nil
}

func queryLines(ctx context.Context, o *observe.Observer, scope core.Scope, query string) ([]string, error) {
	r, err := o.Query(ctx, core.QueryRequest{Scope: scope, Query: query})
	if err != nil {
		return nil, err
	}
	lines := []string{strings.TrimSpace(r.Outcome + " " + r.Ref + r.Explain())}
	for _, m := range r.Matches {
		line := m.Role + " " + strconv.Quote(m.Name)
		if m.Container != "" {
			line += " in " + m.Container
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func waitLines(ctx context.Context, o *observe.Observer, scope core.Scope, query string) ([]string, error) {
	r, err := o.Wait(ctx, core.WaitRequest{Scope: scope, Query: query, TimeoutMS: 50, PollMS: 10})
	lines := []string{r.Outcome}
	if r.LastProbe != nil && r.LastProbe.Matches != nil {
		lines = append(lines, r.LastProbe.QueryOutcome+", "+strconv.Itoa(*r.LastProbe.Matches)+" matches")
	}
	return lines, err
}

var (
	frameName = regexp.MustCompile(`(ifr|tgt)_[0-9a-z]{12}`)
	// Frames are visited at the same time, so that the order of their generations is anyone's.
	childRef = regexp.MustCompile(`@([2-9]|\d{2,})`)
	port     = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)
)

func stable(text string) string {
	text = frameName.ReplaceAllString(text, "${1}_*")
	text = childRef.ReplaceAllString(text, "@*")
	text = port.ReplaceAllString(text, "$1:*")
	if text == "" {
		return ""
	}
	return text + "\n"
}
