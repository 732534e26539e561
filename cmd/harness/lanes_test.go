package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// begun is a tool call under way.
type begun struct{ done chan envelope }

func begin(t *testing.T, tool string, arguments map[string]any) begun {
	t.Helper()
	b := begun{make(chan envelope, 1)}
	go func() {
		e, err := ask(context.WithoutCancel(t.Context()), tool, arguments)
		assert.NoError(t, err)
		b.done <- e
	}()
	return b
}

func (b begun) pending() bool {
	select {
	case e := <-b.done:
		b.done <- e
		return false
	default:
		return true
	}
}

// evaluate runs script in the page without entering the lane's queue: read-only script is an observation.
func evaluate(t *testing.T, target, expression string) string {
	t.Helper()
	e := call(t, "evaluate", map[string]any{"target": target, "expression": expression, "read_only": true})
	require.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	return string(e.Result.Value)
}

func TestFillBehindAnOpenDialogAnswersAtOnce(t *testing.T) {
	target := open(t, `<title>Alert</title><input aria-label="Name"><button onclick="alert('hello')">Ask</button>`)
	e := call(t, "click", map[string]any{"target": target, "query": `role=button name="Ask"`})
	assert.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	require.NotNil(t, e.Result.Dialog, "the action that opened the dialog says so")
	assert.Equal(t, "alert", e.Result.Dialog.Type)
	e = call(t, "fill", map[string]any{"target": target, "query": `label="Name"`, "value": "x"})
	require.NotNil(t, e.Error)
	assert.Equal(t, "dialog_open", e.Error.Code)
	assert.Contains(t, e.Error.Recovery, "handle_dialog")
	assert.Contains(t, answer(t, "browser_status", map[string]any{}).Text, target, "status names the page")
	assert.Equal(t, "succeeded", call(t, "handle_dialog", map[string]any{"target": target, "action": "accept"}).Status)
	assert.Equal(t, "succeeded", call(t, "fill", map[string]any{"target": target, "query": `label="Name"`, "value": "x"}).Status)
	e = call(t, "handle_dialog", map[string]any{"target": target, "action": "accept"})
	require.NotNil(t, e.Error)
	assert.Equal(t, "not_found", e.Error.Code)
}

// slow keeps the page's mutating lane until the page sets window.go.
const slow = `new Promise(done => { const look = () => window.go ? done(1) : setTimeout(look, 10); look() })`

func TestPagesDoNotWaitForEachOther(t *testing.T) {
	first := open(t, `<title>First</title><script>window.go = 0</script>`)
	second := open(t, `<title>Second</title><button onclick="document.title='clicked'">Go</button>`)
	long := begin(t, "evaluate", map[string]any{"target": first, "expression": slow, "timeout_ms": 50000})
	e := call(t, "click", map[string]any{"target": second, "query": `role=button name="Go"`})
	assert.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	assert.True(t, long.pending(), "the other page is still busy")
	assert.Equal(t, "succeeded", call(t, "close_page", map[string]any{"target": first}).Status, "closing waits for nothing")
	<-long.done
}

func TestMutationsOfOnePageQueueAndObservationsDoNot(t *testing.T) {
	gate := newGate(t)
	target := open(t, `<title>Queue</title><button onclick="window.clicked=1">Go</button>`)
	long := begin(t, "evaluate", map[string]any{"target": target, "expression": "fetch('" + gate.path + "').then(r => 1)", "timeout_ms": 50000})
	<-gate.reached
	queued := begin(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`})
	assert.Equal(t, "0", evaluate(t, target, "window.clicked | 0"), "an observation runs beside the mutation")
	assert.Equal(t, "succeeded", call(t, "snapshot_page", map[string]any{"target": target}).Status)
	assert.True(t, queued.pending(), "the click waits for the mutation before it")
	assert.True(t, long.pending())
	close(gate.open)
	<-long.done
	assert.Equal(t, "succeeded", (<-queued.done).Status)
}

func TestALongWaitDelaysNoClick(t *testing.T) {
	target := open(t, `<title>Wait</title><button onclick="document.body.append('ready')">Go</button>`)
	wait := begin(t, "wait", map[string]any{"target": target, "text": "ready", "timeout_ms": 60000})
	e := call(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`})
	assert.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	assert.Equal(t, "succeeded", (<-wait.done).Status)
}

func TestAWaitInsideABatchHoldsNothingUp(t *testing.T) {
	target := open(t, `<title>Batch</title><button onclick="document.body.append('ready')">Go</button>`)
	batch := begin(t, "batch", map[string]any{"target": target, "timeout_ms": 60000, "steps": []any{
		map[string]any{"tool": "wait", "arguments": map[string]any{"text": "ready", "timeout_ms": 50000}},
	}})
	e := call(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`})
	assert.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	assert.Equal(t, "succeeded", (<-batch.done).Status)
}
