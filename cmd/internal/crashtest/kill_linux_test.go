package crashtest

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/storage/instance"
)

var kills = flag.Int("kills", 5, "how many times the program is killed")

// Budgets of a process: small ones evict within seconds, with large ones a file only goes when its session is deleted.
const (
	small = "KROMETRAIL_DISK_BUDGET_BYTES=67108864"
	large = "KROMETRAIL_DISK_BUDGET_BYTES=4000000000"
)

// way is one way to die: at a step of the program, or at a moment.
type way struct {
	name   string
	budget string
	// step of the fail point, "" for a moment; the time it comes there is chosen at random up to most.
	step string
	most int
	// live is what the process does until it is killed.
	live func(*program, string) error
}

// ways begins with those of the short form.
var ways = []way{
	{"append", small, "append", 40, fill},
	{"rotate", small, "rotate", 8, fill},
	{"seal", small, "seal", 12, fill},
	{"evict", small, "remove", 2, fill},
	{"delete", large, "remove", 4, deleteSessions},
	{"moment", small, "", 0, fill},
	{"publish", small, "publish", 24, ask},
	{"sync_directory", small, "sync_directory", 12, fill},
	{"flush", large, "flush", 3, fill},
	{"index.begin", small, "index.begin", 120, fill},
	{"index.commit", small, "index.commit", 120, fill},
	{"index.committed", small, "index.committed", 120, fill},
	{"any", small, "any", 600, fill},
	{"start", small, "any", 14, fill},
	{"moment while asking", small, "", 0, ask},
}

// campaign kills one process after the other beside two peers that live.
type campaign struct {
	*place
	t   *testing.T
	url string
	// idle recorded something and does nothing since; busy records all the time.
	idle, busy *program
	idleRoot   string
	before     map[string][sha256.Size]byte
	saved      look
	// abandoned are roots of killed processes that were seen last.
	abandoned []string

	count                    map[string]int
	proofs, examined, missed int
}

// TestKilledProgram kills the recording program at its steps and at random moments. After each time no browser is left,
// the peers go on and the bytes of the one at rest are the same, what was stored can be recovered, the next process
// records, and the abandoned root is gone by then.
func TestKilledProgram(t *testing.T) {
	c := newCampaign(t)
	for i := range *kills {
		c.round(ways[i%len(ways)])
	}
	c.prove(c.start(t, small)).finish(t)
	c.peersAreWell()
	c.idle.must(t, "measure_change", args{"range_handle": c.saved.Handle}, nil)
	c.busy.finish(t)
	c.idle.finish(t)
	if c.missed > 0 { // a slow machine does less in the time; such a process was killed at the end of it all the same
		t.Logf("%d fail points were not reached", c.missed)
	}
	t.Logf("%d kills (%s): peers untouched, no browser left, %d abandoned roots recovered in a copy, %d next recordings", *kills, c.tally(), c.examined, c.proofs)
}

// crowd is how many instances beside the programs divide the budget, so that little has to be recorded to fill a share.
const crowd = 3

func newCampaign(t *testing.T) *campaign {
	c := &campaign{place: newPlace(t), t: t, url: site(t), count: map[string]int{}}
	for range crowd {
		held, err := instance.Create(c.data, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, held.Close()) })
	}
	earlier := c.roots(t)
	c.idle = c.start(t, small)
	c.idle.must(t, "open_page", args{"url": c.url + "/quiet"}, nil)
	var err error
	c.saved, err = c.idle.recorded()
	require.NoError(t, err)
	c.idle.must(t, "stop_browser", args{}, nil)
	c.idleRoot = c.newRoot(t, earlier)
	c.busy = c.start(t, small)
	c.busy.must(t, "open_page", args{"url": c.url + "/quiet"}, nil)
	c.before = contents(t, c.idleRoot)
	require.Greater(t, len(c.before), 3)
	return c
}

func (c *campaign) tally() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.count)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, c.count[name]))
	}
	return strings.Join(parts, ", ")
}

// round starts a process, lets it prove that it records, and waits for its end.
func (c *campaign) round(w way) {
	c.t.Helper()
	settings := []string{w.budget}
	if w.step != "" {
		settings = append(settings, fmt.Sprintf("KROMETRAIL_FAILPOINT=%s:%d", w.step, 1+rand.IntN(w.most)))
	}
	earlier := c.roots(c.t)
	victim := c.start(c.t, settings...)
	doom := time.AfterFunc(4*limit, func() { _ = victim.command.Process.Kill() })
	if w.step == "" {
		doom.Reset(time.Duration(rand.Int64N(int64(6 * time.Second))))
	}
	root := c.rootOf(victim, earlier)
	var g *grave
	if root != "" {
		c.abandoned = append(c.abandoned, root)
		g = dig(c.t, root)
	}
	err := victim.open(c.url)
	proven := err == nil
	if proven {
		c.proved(root)
		err = w.live(victim, c.url)
	}
	require.NotErrorIs(c.t, err, errFailed, w.name)
	<-victim.ended
	if !doom.Stop() && w.step != "" {
		c.missed++
	}
	require.True(c.t, victim.killed(), "%s: %v %s", w.name, victim.waited, victim.problem.String())
	c.count[w.name]++
	if g != nil && g.examine(c.t) {
		c.examined++
	}
	eventually(c.t, w.name+": no browser is left", func() bool { return len(processes(c.t, victim.profile)) == 0 })
	c.peersAreWell()
	if !proven {
		c.prove(c.start(c.t, small)).kill()
	}
}

// rootOf waits for the root of a process, "" when the process ended without one.
func (c *campaign) rootOf(victim *program, earlier []string) (root string) {
	c.t.Helper()
	eventually(c.t, "a root", func() bool {
		root = c.newRoot(c.t, earlier)
		select {
		case <-victim.ended:
			return true
		default:
			return root != ""
		}
	})
	return root
}

// prove lets a process that nobody kills record, and sees the abandoned roots go.
func (c *campaign) prove(r *program) *program {
	c.t.Helper()
	require.NoError(c.t, r.open(c.url))
	c.proved("")
	return r
}

// proved counts a recording that works. By now the roots of the processes before it are gone.
func (c *campaign) proved(own string) {
	c.t.Helper()
	c.proofs++
	for _, root := range c.abandoned {
		if root != own {
			eventually(c.t, "an abandoned root is gone", func() bool {
				_, err := os.Stat(root)
				return errors.Is(err, os.ErrNotExist)
			})
		}
	}
	c.abandoned = slices.DeleteFunc(c.abandoned, func(root string) bool { return root != own })
}

// peersAreWell looks at the bytes of the peer at rest and at the recording of the other one.
func (c *campaign) peersAreWell() {
	c.t.Helper()
	assert.Equal(c.t, c.before, contents(c.t, c.idleRoot), "the bytes of a peer")
	_, err := c.busy.recorded()
	require.NoError(c.t, err, "the peer that records")
}

// open records a page and asks for pictures of it.
func (r *program) open(url string) error {
	if err := r.call("open_page", args{"url": url + "/quiet"}, nil); err != nil {
		return err
	}
	_, err := r.recorded()
	return err
}

// fill records noise until the process ends.
func fill(r *program, url string) error {
	err := r.call("navigate_to", args{"url": url + "/noise"}, nil)
	for err == nil {
		err = r.call("wait", args{"elapsed_ms": 500}, nil)
	}
	return err
}

// ask publishes pictures until the process ends.
func ask(r *program, _ string) (err error) {
	for err == nil {
		_, err = r.recorded()
	}
	return err
}

// deleteSessions ends sessions and deletes them until the process ends.
func deleteSessions(r *program, url string) error {
	for {
		var status struct {
			SessionID string `json:"session_id"`
		}
		if err := r.call("browser_status", args{}, &status); err != nil {
			return err
		}
		for _, step := range []func() error{
			func() error { return r.call("stop_browser", args{}, nil) },
			func() error { return r.call("delete_session", args{"session_id": status.SessionID}, nil) },
			func() error { return r.open(url) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
	}
}

// TestTheOrdinaryProgramHasNoFailPoints looks at what the program is built of.
func TestTheOrdinaryProgramHasNoFailPoints(t *testing.T) {
	const faulting = "github.com/krometrail/krometrail/storage/faultfs"
	for tags, has := range map[string]bool{"": false, "failpoints": true} {
		out, err := exec.Command("go", "list", "-deps", "-tags", tags, "../../krometrail").Output()
		require.NoError(t, err)
		assert.Equal(t, has, slices.Contains(strings.Fields(string(out)), faulting), "tags %q", tags)
	}
}
