package cdp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// both runs a case over each transport.
func both(t *testing.T, run func(t *testing.T, peer *cdptest.Peer, client *cdp.Client)) {
	for name, open := range map[string]func(testing.TB) (*cdptest.Peer, cdp.Transport){
		"pipe": cdptest.OverPipe, "websocket": cdptest.OverWebSocket,
	} {
		t.Run(name, func(t *testing.T) {
			peer, transport := open(t)
			client := cdp.NewClient(transport, clock.System())
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			run(t, peer, client)
		})
	}
}

func TestRepliesFindTheirCommandInAnyOrder(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Handle("A.slow", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
		slow, err := client.Start("", "A.slow", nil)
		require.NoError(t, err)
		peer.Handle("A.echo", func(c cdptest.Command) cdptest.Reply { return cdptest.Reply{Result: c.Params} })
		var echoed struct{ N int }
		require.NoError(t, client.Call(t.Context(), "s1", "A.echo", map[string]int{"N": 7}, &echoed))
		assert.Equal(t, 7, echoed.N)
		peer.Answer(peer.Await(1, "A.slow"), cdptest.Reply{Result: map[string]int{"N": 9}})
		require.NoError(t, slow.Wait(t.Context(), &echoed))
		assert.Equal(t, 9, echoed.N)
		assert.Equal(t, "s1", peer.Commands("A.echo")[0].Session)
	})
}

func TestARefusalKeepsCodeAndMethod(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Nth(2, "A.b", cdptest.Fail(-32000, "no"))
		require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
		var refusal *cdp.Error
		require.ErrorAs(t, client.Call(t.Context(), "", "A.b", nil, nil), &refusal)
		assert.Equal(t, cdp.Error{Method: "A.b", Code: -32000, Message: "no"}, *refusal)
	})
}

func TestACallersEndLeavesTheConnectionAlone(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Nth(1, "A.b", cdptest.Hang())
		ctx, cancel := context.WithCancel(t.Context())
		pending, err := client.Start("", "A.b", nil)
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, pending.Wait(ctx, nil), context.Canceled)
		peer.Answer(peer.Await(1, "A.b"), cdptest.Reply{})
		require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil), "the late reply is ignored and calls go on")
	})
}

func TestADroppedConnectionFailsWhatWaits(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Handle("A.b", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
		sub := client.Subscribe("")
		pending, err := client.Start("", "A.b", nil)
		require.NoError(t, err)
		peer.Drop()
		require.ErrorIs(t, pending.Wait(t.Context(), nil), cdp.ErrClosed)
		<-client.Done()
		_, open := <-sub.Events()
		assert.False(t, open)
		require.ErrorIs(t, client.Call(t.Context(), "", "A.b", nil, nil), cdp.ErrClosed)
		require.ErrorIs(t, client.Err(), cdp.ErrClosed)
		_, open = <-client.Subscribe("").Events()
		assert.False(t, open, "a late subscription ends at once")
	})
}

func TestASlowSubscriberDelaysNobody(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		slow := client.SubscribeN(2, "s", "A.event")
		for i := range 5 {
			peer.Event("s", "A.event", map[string]int{"n": i})
		}
		require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
		assert.EqualValues(t, 3, slow.Dropped())
		var p struct{ N int }
		require.NoError(t, (<-slow.Events()).Decode(&p))
		assert.Equal(t, 0, p.N, "the oldest stay, in order")
	})
}

func TestEventsReachOnlyTheirSession(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		one, all := client.Subscribe("s1", "A.event"), client.SubscribeAll(10, "A.event")
		var taps []string
		client.Tap("s2", func(e cdp.Event) { taps = append(taps, e.Method) })
		peer.Event("s2", "A.event", nil)
		peer.Event("s2", "A.other", nil)
		peer.Event("s1", "A.event", map[string]string{"unknown": "member"})
		require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
		assert.Len(t, one.Events(), 1)
		assert.Len(t, all.Events(), 2)
		assert.Equal(t, []string{"A.event", "A.other"}, taps)
		assert.Equal(t, "s1", (<-one.Events()).Session)
	})
}

func TestADetachedSessionFailsItsCalls(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Handle("A.b", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
		pending, err := client.Start("s1", "A.b", nil)
		require.NoError(t, err)
		sub := client.Subscribe("s1")
		peer.Event("", "Target.detachedFromTarget", map[string]string{"sessionId": "s1"})
		var refusal *cdp.Error
		require.ErrorAs(t, pending.Wait(t.Context(), nil), &refusal)
		assert.Equal(t, cdp.CodeSessionGone, refusal.Code)
		_, open := <-sub.Events()
		assert.False(t, open)
		sub.Close()
	})
}

func TestNonsenseIsCountedAndSkipped(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		for _, nonsense := range []string{`{`, `[]`, `{"id":0}`, `null`, `{"id":99999,"result":{}}`, `{"method":"X.unknown","params":{"enum":"new"}}`} {
			peer.Raw([]byte(nonsense))
		}
		require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
		assert.EqualValues(t, 4, client.Malformed())
	})
}

func TestLargeMessagesPassBothWays(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Handle("A.echo", func(c cdptest.Command) cdptest.Reply { return cdptest.Reply{Result: c.Params} })
		text := strings.Repeat("x", 1<<20)
		var out struct{ Text string }
		require.NoError(t, client.Call(t.Context(), "", "A.echo", map[string]string{"Text": text}, &out))
		assert.Len(t, out.Text, len(text))
		require.NoError(t, client.Call(t.Context(), "", "A.echo", map[string]string{"Text": "y"}, &out))
		assert.Equal(t, "y", out.Text)
	})
}

func TestAHugeReplyIsFollowedByOthers(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Nth(1, "A.b", cdptest.Reply{Result: map[string]string{"Text": strings.Repeat("x", 9<<20)}})
		peer.Nth(2, "A.b", cdptest.Reply{Result: map[string]string{"Text": "y"}})
		for _, want := range []int{9 << 20, 1} {
			var out struct{ Text string }
			require.NoError(t, client.Call(t.Context(), "", "A.b", nil, &out))
			assert.Len(t, out.Text, want)
		}
	})
}

func TestAWriteThatNeverReturnsEndsTheConnection(t *testing.T) {
	for name, open := range map[string]func(testing.TB) (*cdptest.Peer, cdp.Transport){
		"pipe": cdptest.OverPipe, "websocket": cdptest.OverWebSocket,
	} {
		t.Run(name, func(t *testing.T) {
			peer, transport := open(t)
			fake := coretest.NewClock(time.Unix(0, 0))
			client := cdp.NewClient(transport, fake)
			defer func() { _ = client.Close() }()
			require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
			peer.Pause()
			failed := make(chan error, 1)
			go func() {
				for { // fills whatever the operating system buffers
					if err := client.Call(t.Context(), "", "A.c", strings.Repeat("x", 4<<20), nil); err != nil {
						failed <- err
						return
					}
				}
			}()
			fake.BlockUntil(1)
			fake.Advance(cdp.WriteLimit)
			require.ErrorIs(t, <-failed, cdp.ErrClosed)
			<-client.Done()
		})
	}
}

func TestAcknowledgements(t *testing.T) {
	cases := map[string]struct {
		reply   cdptest.Reply
		advance bool
		failed  bool
	}{
		"answered":   {reply: cdptest.Reply{}},
		"refused":    {reply: cdptest.Fail(-32000, "no"), failed: true},
		"unanswered": {reply: cdptest.Hang(), advance: true, failed: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			peer, transport := cdptest.OverPipe(t)
			fake := coretest.NewClock(time.Unix(0, 0))
			client := cdp.NewClient(transport, fake)
			defer func() { _ = client.Close() }()
			peer.Nth(1, "Page.screencastFrameAck", c.reply)
			outcome := make(chan error, 2)
			require.NoError(t, client.AckFrame("s1", 5, func(err error) { outcome <- err }))
			ack := peer.Await(1, "Page.screencastFrameAck")
			assert.JSONEq(t, `{"sessionId":5}`, string(ack.Params))
			assert.Equal(t, "s1", ack.Session)
			if c.advance {
				fake.Advance(cdp.AckLimit)
			}
			if c.failed {
				require.Error(t, <-outcome)
			}
			require.NoError(t, client.Call(t.Context(), "", "A.b", nil, nil))
			fake.Advance(cdp.AckLimit)
			assert.Empty(t, outcome, "it settles once")
		})
	}
}

func TestTheAcknowledgementsLimitIsTheClients(t *testing.T) {
	peer, transport := cdptest.OverPipe(t)
	fake := coretest.NewClock(time.Unix(0, 0))
	client := cdp.NewClient(transport, fake)
	defer func() { _ = client.Close() }()
	client.SetAckLimit(time.Minute)
	peer.Nth(1, "Page.screencastFrameAck", cdptest.Hang())
	outcome := make(chan error, 1)
	require.NoError(t, client.AckFrame("s1", 5, func(err error) { outcome <- err }))
	fake.Advance(cdp.AckLimit)
	assert.Empty(t, outcome)
	fake.Advance(time.Minute - cdp.AckLimit)
	assert.ErrorIs(t, <-outcome, cdp.ErrAckUnanswered)
}

func TestManyCallersConcurrentSafe(t *testing.T) {
	both(t, func(t *testing.T, peer *cdptest.Peer, client *cdp.Client) {
		peer.Handle("A.echo", func(c cdptest.Command) cdptest.Reply { return cdptest.Reply{Result: c.Params} })
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				var out struct{ N int }
				assert.NoError(t, client.Call(t.Context(), fmt.Sprint(i), "A.echo", map[string]int{"N": i}, &out))
				assert.Equal(t, i, out.N)
			})
		}
		wait.Wait()
	})
}
