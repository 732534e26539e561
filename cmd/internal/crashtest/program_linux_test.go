// Package crashtest drives the built program as an agent host does, as a process of its own, and kills it.
package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/mcp/client"
	"github.com/krometrail/krometrail/storage/instance"
)

// limit bounds every wait for something that has to happen. Nothing is measured by it.
const limit = time.Minute

// binary is the program, built once with its fail points.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "krometrail-crashtest-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "krometrail")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "../../krometrail")
	if out, err := build.CombinedOutput(); err != nil {
		panic("the program cannot be built: " + string(out))
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// place is a data directory with what its processes are started with.
type place struct {
	data     string
	settings []string
}

func newPlace(t *testing.T, settings ...string) *place {
	return &place{data: t.TempDir(), settings: settings}
}

// program is one process of it with a client on its standard streams.
type program struct {
	*client.Client
	command *exec.Cmd
	profile string
	problem bytes.Buffer // standard error, complete when ended is closed
	ended   chan struct{}
	waited  error
}

// start runs the program. It ends with the test at the latest.
func (p *place) start(t *testing.T, more ...string) *program {
	t.Helper()
	run := &program{profile: t.TempDir(), ended: make(chan struct{})}
	run.command = exec.Command(binary, "mcp", "--data-dir", p.data, "--profile-root", run.profile)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "KROMETRAIL_") {
			run.command.Env = append(run.command.Env, entry)
		}
	}
	run.command.Env = append(append(run.command.Env, p.settings...), more...)
	run.command.Stderr = &run.problem
	stdin, err := run.command.StdinPipe()
	require.NoError(t, err)
	stdout, err := run.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.command.Start())
	run.Client, err = client.Dial(t.Context(), streams{run, stdin, stdout})
	require.NoError(t, err)
	t.Cleanup(func() {
		run.kill()
		_ = run.Close()
		eventually(t, "the browser writes no more", func() bool { return len(processes(t, run.profile)) == 0 })
	})
	return run
}

// streams serves a client with a process.
type streams struct {
	run    *program
	stdin  io.WriteCloser
	stdout io.Reader
}

// Serve implements client.Server.
func (s streams) Serve(_ context.Context, in io.Reader, out io.Writer) error {
	var sending sync.WaitGroup
	sending.Go(func() {
		_, _ = io.Copy(s.stdin, in)
		_ = s.stdin.Close()
	})
	_, _ = io.Copy(out, s.stdout)
	s.run.waited = s.run.command.Wait()
	close(s.run.ended)
	if c, ok := in.(io.Closer); ok {
		_ = c.Close()
	}
	sending.Wait()
	return s.run.waited
}

// kill ends the process at once and waits for its end.
func (r *program) kill() {
	_ = r.command.Process.Kill()
	<-r.ended
}

// killed reports that the process ended by SIGKILL and not by itself.
func (r *program) killed() bool {
	status, ok := r.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

type args = map[string]any

// errFailed is a tool's own failure, with its text.
var errFailed = errors.New("the tool failed")

// call calls a tool. The error is client.ErrClosed when the process is gone.
func (r *program) call(tool string, arguments args, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	answer, err := r.CallTool(ctx, tool, arguments)
	switch {
	case err != nil:
		return err
	case answer.Failed:
		return errors.Join(errFailed, errors.New(tool+": "+answer.Text))
	case result == nil:
		return nil
	}
	return answer.Decode("result", result)
}

// must is call for what has to succeed.
func (r *program) must(t *testing.T, tool string, arguments args, result any) {
	t.Helper()
	require.NoError(t, r.call(tool, arguments, result), "%s", tool)
}

// failure calls a tool that must fail and returns its error code.
func (r *program) failure(t *testing.T, tool string, arguments args) string {
	t.Helper()
	answer, err := r.CallTool(t.Context(), tool, arguments)
	require.NoError(t, err)
	require.True(t, answer.Failed, "%s succeeded: %s", tool, answer.Text)
	var f struct {
		Code string `json:"code"`
	}
	require.NoError(t, answer.Decode("error", &f))
	return f.Code
}

// finish ends the process as a host does, which must succeed.
func (r *program) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, r.Close(), "%s", r.problem.String())
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// processes lists those whose command line contains text, the program itself excepted.
func processes(t *testing.T, text string) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var pids []int
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(line, []byte(text)) || bytes.HasPrefix(line, []byte(binary+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// roots lists the published instance roots.
func (p *place) roots(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.data, instance.DirName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// newRoot returns the root that was not among the earlier ones, "" when there is none.
func (p *place) newRoot(t *testing.T, earlier []string) string {
	for _, name := range p.roots(t) {
		if !slices.Contains(earlier, name) {
			return filepath.Join(p.data, instance.DirName, name)
		}
	}
	return ""
}

// pages are what the crash tests record: noise fills a small budget within seconds, quiet changes once a second.
const pages = `<!doctype html><title>page</title><link rel=icon href="data:,"><body style="margin:0">
<button id=b>Mark</button><canvas id=c width=960 height=540></canvas><script>
const c = document.getElementById('c').getContext('2d'), picture = c.createImageData(960, 540);
const cells = new Uint32Array(picture.data.buffer);
let seed = 1, marks = 0;
function noise() {
	for (let i = 0; i < cells.length; i++) { seed = (seed * 1664525 + 1013904223) | 0; cells[i] = seed | 0xff000000 }
	c.putImageData(picture, 0, 0);
	setTimeout(() => requestAnimationFrame(noise), 50);
}
if (location.pathname === '/noise') noise();
else setInterval(() => { c.fillStyle = (marks++ % 2) ? '#fff' : '#484'; c.fillRect(0, 0, 99, 99) }, 1000);
document.getElementById('b').onclick = e => { e.target.style.background = '#6d6'; setTimeout(() => { e.target.style.background = '' }, 60) };
</script>`

func site(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, pages)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// look is what the tests want to know of a bundle.
type look struct {
	Range struct {
		SessionID string `json:"session_id"`
		TargetID  string `json:"target_id"`
		StartNS   int64  `json:"start_ns"`
		EndNS     int64  `json:"end_ns"`
	}
	Handle string
}

// recorded clicks and asks for pictures of it. A machine that is very busy may need more than one attempt.
func (r *program) recorded() (l look, err error) {
	for range 5 {
		if l, err = r.clickAndLook(); !errors.Is(err, errFailed) {
			break
		}
	}
	return l, err
}

func (r *program) clickAndLook() (look, error) {
	var l look
	if err := r.call("click", args{"query": "role=button name=Mark"}, nil); err != nil {
		return l, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	answer, err := r.CallTool(ctx, "temporal_debug_bundle", args{})
	if err != nil {
		return l, err
	}
	var envelope struct {
		Range  json.RawMessage `json:"range"`
		Handle string          `json:"range_handle"`
	}
	if err := json.Unmarshal(answer.Structured, &envelope); err != nil {
		return l, err
	}
	if answer.Failed || len(answer.Images) == 0 {
		return l, errors.Join(errFailed, errors.New(answer.Text))
	}
	l.Handle = envelope.Handle
	return l, json.Unmarshal(envelope.Range, &l.Range)
}
