package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
)

// hook is a drain that tells when it runs and ends when released.
type hook struct {
	entered chan struct{}
	release chan error
	calls   atomic.Int32
}

func newHook() *hook { return &hook{entered: make(chan struct{}), release: make(chan error, 1)} }

func (h *hook) drain(ctx context.Context) error {
	h.calls.Add(1)
	close(h.entered)
	select {
	case err := <-h.release:
		return err
	case <-ctx.Done():
		<-h.release // a browser that ignores its deadline
		return nil
	}
}

func manual() *coretest.Clock { return coretest.NewClock(time.Unix(0, 0)) }

func TestRequestsInProgressMayFinishAfterTheEndOfInput(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		h := newHook()
		w := dialAs(t, version, wireOptions{clock: manual(), loop: []Option{WithDrain(h.drain)}})
		w.send(call(version, "1", "tools/call", `"name":"block"`))
		<-w.tools.entered
		require.NoError(t, w.in.Close())
		close(w.tools.block)
		assert.Nil(t, w.reply().Error)
		<-h.entered
		h.release <- nil
		require.NoError(t, <-w.done)
		assert.EqualValues(t, 1, h.calls.Load())
	})
}

func TestRequestsAreCancelledWhenTheGraceIsOver(t *testing.T) {
	clk, h := manual(), newHook()
	w := dial(t, wireOptions{clock: clk, loop: []Option{WithDrain(h.drain)}})
	w.send(call(v26, "1", "tools/call", `"name":"block"`))
	<-w.tools.entered
	require.NoError(t, w.in.Close())
	clk.BlockUntil(3) // budget, requests' share, grace
	clk.Advance(finishGrace)
	assert.Equal(t, fault.Cancelled, fault.CodeOf(<-w.tools.ended))
	assert.Nil(t, w.reply().Error, "what it answers is still written")
	h.release <- nil
	require.NoError(t, <-w.done)
}

func TestASignalCancelsAtOnce(t *testing.T) {
	h := newHook()
	w := dial(t, wireOptions{clock: manual(), loop: []Option{WithDrain(h.drain)}})
	w.send(call(v26, "1", "tools/call", `"name":"block"`))
	<-w.tools.entered
	w.stop()
	assert.Equal(t, fault.Cancelled, fault.CodeOf(<-w.tools.ended))
	assert.Nil(t, w.reply().Error)
	<-h.entered
	w.wantError(call(v26, "2", "tools/list", ""), codeOverload) // admission has stopped
	h.release <- nil
	require.NoError(t, <-w.done)
}

func TestASignalAfterTheEndOfInputCancelsAtOnce(t *testing.T) {
	clk := manual()
	w := dial(t, wireOptions{clock: clk})
	w.send(call(v26, "1", "tools/call", `"name":"block"`))
	<-w.tools.entered
	require.NoError(t, w.in.Close())
	clk.BlockUntil(3)
	w.stop()
	assert.Equal(t, fault.Cancelled, fault.CodeOf(<-w.tools.ended))
	require.NoError(t, <-w.done)
}

func TestWhatOutlastsTheBudgetIsNamed(t *testing.T) {
	clk, h := manual(), newHook()
	w := dial(t, wireOptions{clock: clk, loop: []Option{WithDrain(h.drain)}})
	w.send(call(v26, "1", "tools/call", `"name":"deaf"`))
	<-w.tools.entered
	require.NoError(t, w.in.Close())
	clk.BlockUntil(3)
	clk.Advance(ShutdownBudget - drainReserve)
	<-h.entered // the browser has its share in any case
	clk.Advance(drainReserve)
	err := <-w.done
	assert.Equal(t, fault.ShutdownIncomplete, fault.CodeOf(err))
	assert.ErrorContains(t, err, "cleanup incomplete: tools/call deaf, browser cleanup")
	close(w.tools.block)
	h.release <- nil
}

func TestAFailedDrainIsIncomplete(t *testing.T) {
	for name, drain := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errors.New("secret") },
		"panic": func(context.Context) error { panic("secret") },
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, wireOptions{loop: []Option{WithDrain(drain)}})
			_, err := w.close()
			assert.Equal(t, fault.ShutdownIncomplete, fault.CodeOf(err))
			assert.ErrorContains(t, err, "browser cleanup")
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestAnUnreadOutputHoldsNothing(t *testing.T) {
	clk, h := manual(), newHook()
	w := dial(t, wireOptions{clock: clk, unread: true, loop: []Option{WithDrain(h.drain)}})
	for i := range 50 { // far more than any pipe holds, and still every call runs
		w.send(call(v26, fmt.Sprint(i), "tools/call", `"name":"picture"`))
		assert.Equal(t, "picture", <-w.tools.entered)
	}
	w.send(call(v26, `"last"`, "tools/call", `"name":"picture"`))
	<-w.tools.entered
	require.NoError(t, w.in.Close())
	<-h.entered
	h.release <- nil
	clk.BlockUntil(2) // budget and stall
	clk.Advance(flushStall)
	require.NoError(t, <-w.done)
}

func TestABrokenOutputEndsTheLoop(t *testing.T) {
	h := newHook()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	require.NoError(t, outR.Close())
	tools := newTestTools()
	loop, err := New(tools.protocol(), Identity{Name: "test"}, manual(), WithDrain(h.drain))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- loop.Serve(t.Context(), inR, outW) }()
	_, err = io.WriteString(inW, call(v26, "1", "tools/list", "")+"\n")
	require.NoError(t, err)
	<-h.entered
	h.release <- nil
	require.NoError(t, <-done)
	require.NoError(t, inW.Close())
}

func TestTooMuchUnreadOutputIsReplacedByANotice(t *testing.T) {
	w := newWriter(io.Discard, 100)
	assert.True(t, w.send(make([]byte, 60)))
	assert.False(t, w.send(make([]byte, 60)))
	assert.True(t, w.sendNotice(make([]byte, 60)))
	assert.Equal(t, 1, w.dropped)
	assert.Equal(t, 3, w.close())
	assert.False(t, w.send(nil))
	w.run()
}
