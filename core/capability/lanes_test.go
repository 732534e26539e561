package capability_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

const (
	pageA = id.Target("tgt_aaaaaaaaaaaa")
	pageB = id.Target("tgt_bbbbbbbbbbbb")
)

func TestMutationsOfOnePageRunInArrivalOrder(t *testing.T) {
	c := coretest.NewClock(time.Unix(0, 0))
	l := capability.NewLanes(c)
	leave, err := l.Enter(t.Context(), pageA, "first")
	require.NoError(t, err)
	var mu sync.Mutex
	var order []int
	var done sync.WaitGroup
	for i := range 5 {
		done.Go(func() {
			leave, err := l.Enter(t.Context(), pageA, "next")
			assert.NoError(t, err)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			leave()
		})
		c.BlockUntil(i + 1) // the next one queues only after this one did
	}
	leave()
	leave() // leaving twice does not let two in
	done.Wait()
	assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
}

func TestPagesDoNotWaitForEachOther(t *testing.T) {
	l := capability.NewLanes(coretest.NewClock(time.Unix(0, 0)))
	_, err := l.Enter(t.Context(), pageA, "click")
	require.NoError(t, err)
	_, err = l.Enter(t.Context(), pageB, "click")
	require.NoError(t, err)
}

func TestWaitingTooLongIsPageBusyAndNamesTheHolder(t *testing.T) {
	c := coretest.NewClock(time.Unix(0, 0))
	l := capability.NewLanes(c)
	leave, err := l.Enter(t.Context(), pageA, "navigate_to")
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() {
		_, err := l.Enter(t.Context(), pageA, "click")
		failed <- err
	}()
	c.BlockUntil(1)
	c.Advance(capability.LaneWait)
	f := fault.From(<-failed)
	assert.Equal(t, fault.PageBusy, f.Code)
	assert.Equal(t, fault.Safe, f.Retry)
	assert.Contains(t, f.Message, "navigate_to")
	leave()
	_, err = l.Enter(t.Context(), pageA, "click")
	require.NoError(t, err, "a waiter that gave up does not block the lane")
}

func TestCancellingAWaiterIsSafeToRetry(t *testing.T) {
	l := capability.NewLanes(coretest.NewClock(time.Unix(0, 0)))
	_, err := l.Enter(t.Context(), pageA, "click")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Enter(ctx, pageA, "fill")
	assert.Equal(t, fault.Cancelled, fault.CodeOf(err))
	assert.Equal(t, fault.Safe, fault.From(err).Retry)
}
