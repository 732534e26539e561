package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
)

// serveVariable makes the test binary a server on its own standard streams.
const serveVariable = "STDIO_TEST_SERVE"

func serveForTest() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	// Without this a write to a closed stdout would end the process by a signal.
	signal.Ignore(syscall.SIGPIPE)
	tools := newTestTools()
	loop, err := New(tools.protocol(), Identity{Name: "test"}, clock.System())
	if err != nil {
		return 2
	}
	if loop.Serve(ctx, os.Stdin, os.Stdout) != nil {
		return 1
	}
	return 0
}

func startable(t *testing.T) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), serveVariable+"=1")
	return command
}

func TestProcessServesAScriptAndExitsCleanly(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		command := startable(t)
		var script []string
		if version != v26 {
			script = append(script, initialize(version), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}
		script = append(script, call(version, "1", "tools/list", ""), call(version, "2", "tools/call", `"name":"picture"`), "nonsense",
			call(version, "3", "tools/call", `"name":"echo","arguments":{"a":"b"}`)) // the last without a newline
		command.Stdin = strings.NewReader(strings.Join(script, "\n"))
		out, err := command.Output()
		require.NoError(t, err)
		answered := map[string]bool{}
		for line := range bytes.Lines(out) {
			var r reply
			require.NoError(t, json.Unmarshal(line, &r))
			answered[string(r.ID)] = r.Error == nil
		}
		want := map[string]bool{"1": true, "2": true, "3": true, "": false}
		if version != v26 {
			want[`"init"`] = true
		}
		assert.Equal(t, want, answered)
	})
}

func TestProcessEndsOnASignal(t *testing.T) {
	command := startable(t)
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	_, err = stdin.Write([]byte(call(v26, "1", "tools/call", `"name":"block"`) + "\n" + call(v26, "2", "tools/list", "") + "\n"))
	require.NoError(t, err)
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, first, `"id":2`)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	second, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, second, `"id":1`)
	require.NoError(t, command.Wait())
}

func TestProcessEndsThoughNobodyReads(t *testing.T) {
	command := startable(t)
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	_, err = command.StdoutPipe() // kept open and never read
	require.NoError(t, err)
	require.NoError(t, command.Start())
	for i := range 20 {
		_, err = stdin.Write([]byte(call(v26, fmt.Sprint(i), "tools/call", `"name":"picture"`) + "\n"))
		require.NoError(t, err)
	}
	require.NoError(t, stdin.Close())
	require.NoError(t, command.Wait())
}

func TestProcessEndsWhenItsOutputIsClosed(t *testing.T) {
	command := startable(t)
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	require.NoError(t, stdout.Close())
	_, err = stdin.Write([]byte(call(v26, "1", "tools/list", "") + "\n"))
	require.NoError(t, err)
	require.NoError(t, command.Wait())
	_ = stdin.Close()
}
