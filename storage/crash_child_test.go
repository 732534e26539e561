//go:build unix

package storage_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/faultfs"
)

// The child process of the crash tests is this test binary called with "crash-child root seed step": it works on
// the store in root until it reaches the given step, where it kills itself, and prints what was acknowledged.
// A step is a call to the file system, the middle of a write, or a moment before, in or after a commit.

// acknowledged is one line of the child's output.
type acknowledged struct {
	What    string // frame, pinned, deleting, deleted, artifact, steps
	Frame   record.Frame
	Digest  string
	Window  record.Window
	Session id.Session
	ID      id.Artifact
	Steps   int
}

func runCrashChild() bool {
	if len(os.Args) != 5 || os.Args[1] != "crash-child" {
		return false
	}
	seed, _ := strconv.ParseUint(os.Args[3], 10, 64)
	kill, _ := strconv.Atoi(os.Args[4])
	c := &child{
		random: rand.New(rand.NewPCG(seed, 1)), kill: kill, out: json.NewEncoder(os.Stdout),
		clock: coretest.NewClock(startWall.Add(time.Duration(seed) * time.Hour)),
	}
	if err := c.work(os.Args[2], seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return true
}

type child struct {
	random *rand.Rand
	out    *json.Encoder
	clock  *coretest.Clock
	store  *storage.Store

	mu    sync.Mutex
	steps int
	kill  int

	session id.Session
	targets []id.Target
	ordinal uint64
	frames  []record.Frame
	ended   []id.Session
}

// reached counts a step and reports whether the process has to end there.
func (c *child) reached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps++
	return c.steps == c.kill
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (c *child) hook(call faultfs.Call) faultfs.Fault {
	switch call.Op {
	case faultfs.Size, faultfs.Read, faultfs.List, faultfs.Open: // change nothing
	case faultfs.Write:
		if c.reached() {
			return faultfs.Fault{Err: syscall.EIO, Short: call.Bytes / 2, Then: die}
		}
	default:
		if c.reached() {
			die()
		}
	}
	return faultfs.Fault{}
}

func (c *child) work(root string, seed uint64) error {
	tree, err := disk.OpenDir(root)
	if err != nil {
		return err
	}
	faulty := faultfs.New(tree)
	faulty.SetHook(c.hook)
	c.store, _, err = storage.Open(root, storage.Options{
		Clock: c.clock, Logger: quietLogger(),
		BudgetBytes: storage.MinBudget, FS: faulty, Step: func(string) {
			if c.reached() {
				die()
			}
		},
	})
	if err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.play(seed); err != nil {
		return err
	}
	if err := c.store.Close(context.Background()); err != nil {
		return err
	}
	return c.out.Encode(acknowledged{What: "steps", Steps: c.steps})
}

// play runs the tour for seed 0 and random steps for any other.
func (c *child) play(seed uint64) error {
	if seed == 0 {
		return c.tour()
	}
	for range 150 {
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *child) begin() error {
	c.session, c.targets, c.frames = id.New[id.Session](), []id.Target{id.New[id.Target](), id.New[id.Target]()}, nil
	facts := []record.Fact{record.Session{ID: c.session, StartedAt: c.clock.Wall()}}
	for _, target := range c.targets {
		facts = append(facts, record.Target{ID: target, SessionID: c.session})
	}
	return c.store.Put(context.Background(), facts...)
}

func (c *child) step() error {
	c.clock.Advance(time.Duration(c.random.IntN(3000)) * time.Millisecond)
	switch n := c.random.IntN(100); {
	case n < 75:
		return c.append()
	case n < 80:
		event := record.Event{SessionID: c.session, TargetID: c.targets[0], Source: "browser", Sequence: uint64(c.random.Int64()), Class: record.ClassConsole, Payload: []byte("{}")}
		return c.store.AppendEvents(context.Background(), []record.Event{event})
	case n < 86:
		return c.publish()
	case n < 90:
		return c.pin()
	case n < 94:
		return c.store.Barrier(context.Background())
	case n < 97:
		return c.end()
	default:
		return c.delete()
	}
}

func (c *child) append() error {
	c.ordinal++
	at := clock.SessionTime(c.ordinal) * clock.SessionTime(time.Second)
	f := record.Frame{ID: id.New[id.Frame](), SessionID: c.session, TargetID: c.targets[c.random.IntN(2)], Ordinal: c.ordinal, ReceivedNS: at}
	image := picture(8, 8, 1000+c.random.IntN(400_000))
	f, err := c.store.AppendFrame(context.Background(), f, text(image))
	if err != nil {
		return err
	}
	c.frames = append(c.frames, f)
	return c.out.Encode(acknowledged{What: "frame", Frame: f, Digest: fmt.Sprintf("%x", sha256.Sum256(image))})
}

func (c *child) publish() error {
	if len(c.frames) == 0 {
		return nil
	}
	a := record.Artifact{SessionID: c.session, CacheKey: strconv.Itoa(c.random.Int()), Sources: []id.Frame{c.frames[len(c.frames)-1].ID}}
	a, _, err := c.store.PublishArtifact(context.Background(), a, strings.NewReader(strings.Repeat("x", c.random.IntN(50_000))), []byte("{}"))
	if err != nil {
		return err
	}
	return c.out.Encode(acknowledged{What: "artifact", ID: a.ID})
}

func (c *child) pin() error {
	if len(c.frames) == 0 {
		return nil
	}
	if pins, err := c.store.Pins(context.Background(), nil); err != nil || len(pins) > 2 {
		return err
	}
	f := c.frames[len(c.frames)-1]
	w := record.Window{SessionID: f.SessionID, TargetID: f.TargetID, StartNS: f.Time(), EndNS: f.Time()}
	if _, err := c.store.Pin(context.Background(), w); err != nil {
		return err
	}
	return c.out.Encode(acknowledged{What: "pinned", Frame: f})
}

func (c *child) end() error {
	now := c.clock.Wall()
	if err := c.store.EndSession(context.Background(), record.Session{ID: c.session, StartedAt: now, EndedAt: &now}); err != nil {
		return err
	}
	c.ended = append(c.ended, c.session)
	return c.begin()
}

func (c *child) delete() error {
	if len(c.ended) == 0 {
		return nil
	}
	session := c.ended[0]
	c.ended = c.ended[1:]
	if err := c.out.Encode(acknowledged{What: "deleting", Session: session}); err != nil {
		return err
	}
	if _, err := c.store.DeleteSession(context.Background(), session); err != nil {
		return err
	}
	return c.out.Encode(acknowledged{What: "deleted", Session: session})
}

// tour does everything that has steps once, in a fixed order: fill until segments rotate and are evicted, publish,
// pin, end, delete.
func (c *child) tour() error {
	fill := func(n int) error {
		for range n {
			c.clock.Advance(time.Second)
			if err := c.append(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, do := range []func() error{
		func() error { return fill(4) }, c.publish, c.end, func() error { return fill(8) }, c.pin, c.publish,
		func() error { return fill(80) }, c.end, c.delete, c.delete, func() error { return fill(2) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}
