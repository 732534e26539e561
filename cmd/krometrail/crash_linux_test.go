package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var kills = flag.Int("kills", 3, "how often the recording program is killed")

// noisePage changes all of a large picture all the time, so that segments fill, rotate and are evicted within seconds.
const noisePage = `<!doctype html><title>noise</title><link rel=icon href="data:,"><button>Go</button><canvas width=1200 height=640></canvas><script>
const c=document.querySelector('canvas'),g=c.getContext('2d'),tile=g.createImageData(1200,640),w=new Uint32Array(tile.data.buffer);let x=1;
(function f(){for(let i=0;i<w.length;i++){x^=x<<13;x^=x>>>17;x^=x<<5;w[i]=x|0xff000000}g.putImageData(tile,0,0);requestAnimationFrame(f)})();
document.querySelector('button').onclick=e=>{console.log('clicked');e.target.textContent='PASS'}</script>`

// crash is one way to be killed: at a step of the store, or at a moment when step is empty.
type crash struct{ step, doing string }

// crashes are in the order of a recording's life. A store of the smallest budget that shares it with a peer holds 32 MiB.
var crashes = []crash{
	{"", "recording"}, {"write:%d", "recording"}, {"index.commit:%d", "recording"}, {"datasync:%d", "recording"}, {"create:%d", "recording"},
	{"rename:1", "filling"}, {"sync:1", "filling"}, {"remove:1", "filling"}, {"remove:2", "filling"}, {"sync_directory:%d", "filling"},
	{"", "bundle"}, {"mkdir:1", "bundle"}, {"rename:1", "bundle"}, {"index.committed:%d", "deleting"}, {"remove:1", "deleting"}, {"", "starting"},
}

// TestTheProgramIsKilledWhileItRecords kills the program at random moments and at steps of its store. Whatever the moment,
// no browser is left, what a peer has is untouched, the abandoned root is gone after two starts, and the next recording
// works.
func TestTheProgramIsKilledWhileItRecords(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "krometrail")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "failpoints", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(noisePage))
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	data := t.TempDir()
	options := []string{"--data-dir", data, "--profile-root", filepath.Join(data, "profiles"), "--disk-budget-bytes", fmt.Sprint(64 << 20)}

	peer := startWith(t, binary, modern, nil, options...)
	peer.succeed("open_page", map[string]any{"url": site.URL})
	peer.succeed("click", map[string]any{"query": "role=button name=Go"})
	peer.succeed("stop_browser", map[string]any{})
	roots := instances(t, data)
	require.Len(t, roots, 1)
	peers := contents(t, roots[0])
	require.NotEmpty(t, peers)

	var abandoned []string
	starts := map[string]int{} // how many complete starts an abandoned root has seen
	reached := 0
	for i := range *kills {
		c := crashes[i%len(crashes)]
		if i >= len(crashes) {
			c = crashes[rand.IntN(len(crashes))] //nolint:gosec // a crash test, not a secret
		}
		env, victim := killedAt(c.step)
		p := startWith(t, binary, modern, env, options...)
		var own string
		eventually(t, "the program has a root of its own", func() bool {
			all := slices.DeleteFunc(instances(t, data), func(root string) bool { return root == roots[0] || slices.Contains(abandoned, root) })
			if len(all) == 1 {
				own = all[0]
			}
			return own != ""
		})
		var answered int
		var died bool
		if c.step != "" {
			if answered, died = doUntilDead(p, c.doing, site.URL); died {
				reached++
			}
		} else {
			finished := make(chan struct{})
			go func() { answered, _ = doUntilDead(p, c.doing, site.URL); close(finished) }()
			select {
			case <-finished:
			case <-time.After(victim):
			}
			_ = p.command.Process.Kill()
			<-finished
		}
		_ = p.command.Process.Kill() // the step was not reached
		_ = p.command.Wait()
		eventually(t, fmt.Sprintf("no browser is left after kill %d (%v)", i, c), func() bool { return len(browsers(t, data)) == 0 })
		require.Equal(t, peers, contents(t, roots[0]), "kill %d (%v) touched the peer", i, c)
		for _, root := range abandoned {
			if answered > 0 { // a start that was killed before it could serve is none
				starts[root]++
			}
			if starts[root] == 2 {
				assert.NoDirExists(t, root, "after kill %d (%v)", i, c)
			}
		}
		abandoned = append(abandoned, own)
	}

	for range 2 {
		p := startWith(t, binary, modern, nil, options...)
		p.succeed("open_page", map[string]any{"url": site.URL})
		p.succeed("click", map[string]any{"query": "role=button name=Go"})
		p.succeed("temporal_debug_bundle", map[string]any{})
		p.end()
	}
	for _, root := range abandoned {
		assert.NoDirExists(t, root)
	}
	a := peer.succeed("temporal_debug_bundle", map[string]any{})
	assert.NotEmpty(t, a.Envelope.Resources, "the peer still has its evidence")
	peer.end()
	t.Logf("%d kills, %d of them at a step of the store; no browser was left after at most %v", *kills, reached, longest.Round(10*time.Millisecond))
}

// killedAt makes the environment of a crash at a step, or a random moment.
func killedAt(step string) (env []string, after time.Duration) {
	n := 1 + rand.IntN(40) //nolint:gosec // a crash test, not a secret
	if step == "" {
		return nil, time.Duration(50*n) * time.Millisecond
	}
	if slices.Contains([]byte(step), '%') {
		step = fmt.Sprintf(step, n)
	}
	return []string{"FAILPOINT=" + step}, 0
}

// doUntilDead uses the program until it dies, at most until the work is done. It reports how many calls were answered
// and whether the program died.
func doUntilDead(p *process, doing, url string) (answered int, died bool) {
	step := func(tool string, arguments map[string]any) bool {
		if died {
			return false
		}
		_, alive := p.try(tool, arguments)
		if died = !alive; alive {
			answered++
		}
		return alive
	}
	if doing == "starting" {
		step("start_browser", map[string]any{})
		return answered, died
	}
	step("open_page", map[string]any{"url": url})
	step("click", map[string]any{"query": "role=button name=Go"})
	switch doing {
	case "recording":
		step("wait", map[string]any{"elapsed_ms": 2500})
	case "filling":
		for range 6 {
			step("wait", map[string]any{"elapsed_ms": 2500})
		}
	case "bundle":
		step("temporal_debug_bundle", map[string]any{})
		step("wait", map[string]any{"elapsed_ms": 500})
	case "deleting":
		step("stop_browser", map[string]any{})
		if answer, alive := p.try("list_sessions", map[string]any{}); alive {
			step("delete_session", map[string]any{"session_id": sessionOf(answer)})
		}
	}
	return answered, died
}

// instances lists the published roots.
func instances(t *testing.T, data string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "instances", "[^.]*"))
	require.NoError(t, err)
	slices.Sort(found)
	return found
}

// contents is the hash of every file of a root at rest.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	return maps.Clone(all)
}

// wait is bounded: a program that neither answers nor dies fails the test.
const answerWithin = 2 * time.Minute

// try calls a tool of a program that may die of it.
func (p *process) try(tool string, arguments map[string]any) (answer []byte, alive bool) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = p.command.Process.Kill() })
	defer stop()
	p.next++
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		p.next, tool, encoded(arguments), modern)
	if _, err := p.in.Write([]byte(line + "\n")); err != nil {
		return nil, false
	}
	raw, err := p.out.ReadBytes('\n')
	return raw, err == nil
}

func encoded(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// sessionOf is the first session of an answer of list_sessions.
func sessionOf(answer []byte) string {
	return string(regexp.MustCompile(`ses_[0-9a-z]+`).Find(answer))
}
