package events_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/record"
)

// A storm costs events, never order, memory or truth: what is missing is counted.
func TestAConsoleStorm(t *testing.T) {
	r := startRecording(t, nil)
	p := r.b.Open(t, `x`)
	const lines = 20_000
	storm(t, r, p, lines)
}

// storm lets the page write lines as fast as it can and sees that none is out of order or missing without a word.
func storm(t testing.TB, r *recording, p target.Page, lines int) {
	t.Helper()
	before := r.Status()
	run(t, p, fmt.Sprintf(`for (let i = 0; i < %d; i++) console.log('line', i); console.log('end')`, lines))
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	// The reply of the script comes after its messages on the same connection, so all have been received.
	require.NoError(t, r.Barrier(ctx))
	last, count := -1, 0
	for _, words := range texts(r.events(p, record.ClassConsole)) {
		number, ok := strings.CutPrefix(words, "line ")
		if !ok {
			continue
		}
		i, err := strconv.Atoi(number)
		require.NoError(t, err)
		require.Greater(t, i, last, "in order and none twice")
		last = i
		count++
	}
	status := r.Status()
	t.Logf("recorded %d lines, dropped %d", count, status.Dropped)
	facts, err := r.store.Within(ctx, record.Window{SessionID: r.b.Session, TargetID: p.ID, EndNS: 1 << 62})
	require.NoError(t, err)
	var missing uint64
	for _, g := range facts.Gaps {
		assert.Equal(t, record.StreamEvents, g.Stream)
		missing += g.Count
	}
	assert.Equal(t, status.Dropped-before.Dropped, missing, "every lost event is in a gap")
	assert.InDelta(t, float64(lines), float64(count)+float64(missing), 20, "kept and lost are all there are, but for a few of other classes")
	assert.Zero(t, status.Rejected)
}
