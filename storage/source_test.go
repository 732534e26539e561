//go:build unix

package storage_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Another source of evidence adds to the timeline through the event port alone: it can use the same numbers, times and
// even identities as the browser's own evidence and overwrites none of it.
func TestASecondSourceOfEvidenceAddsAndOverwritesNothing(t *testing.T) {
	b := newBench(t)
	frame := b.append(time.Second, 2000)
	interaction := record.Interaction{
		ID: id.New[id.Interaction](), SessionID: b.session, TargetID: b.target, Operation: "click", DispatchedNS: clock.SessionTime(time.Second), Outcome: record.Succeeded,
	}
	require.NoError(t, b.store.Put(t.Context(), interaction))
	b.barrier()

	pixels, err := b.store.Pixels(t.Context(), frame)
	require.NoError(t, err)
	facts, err := b.store.Within(t.Context(), b.window(0, time.Minute))
	require.NoError(t, err)

	var sink record.EventSink = b.store // all that a source is given
	assert.Equal(t, 1, reflect.TypeFor[record.EventSink]().NumMethod(), "events are all that a source can write")
	for _, source := range []string{"browser", "probe"} {
		require.NoError(t, sink.AppendEvents(t.Context(), []record.Event{{
			SessionID: b.session, TargetID: b.target, Source: source, Sequence: 1, AtNS: clock.SessionTime(time.Second), Class: record.ClassConsole, Severity: record.Info,
			Payload: []byte(`{"frame_id":"` + string(frame.ID) + `","interaction_id":"` + string(interaction.ID) + `","text":"` + source + `"}`),
		}}))
	}
	b.barrier()

	events, left, err := b.store.Events(t.Context(), record.EventQuery{Window: b.window(0, time.Minute), Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, 2, left)
	require.Len(t, events, 2)
	assert.Equal(t, []string{"browser", "probe"}, []string{events[0].Source, events[1].Source}, "same time and number: the source decides the order")

	kept, err := b.store.Frame(t.Context(), frame.ID)
	require.NoError(t, err)
	assert.Equal(t, frame, kept)
	all, _, err := b.store.Frames(t.Context(), b.window(0, time.Minute), 0, 0)
	require.NoError(t, err)
	assert.Equal(t, []record.Frame{frame}, all)
	same, err := b.store.Pixels(t.Context(), frame)
	require.NoError(t, err)
	assert.Equal(t, pixels, same)
	still, err := b.store.Within(t.Context(), b.window(0, time.Minute))
	require.NoError(t, err)
	assert.Equal(t, facts, still)
	acted, err := b.store.Interaction(t.Context(), interaction.ID)
	require.NoError(t, err)
	assert.Equal(t, interaction.DispatchedNS, acted.DispatchedNS)
	assert.Equal(t, "click", acted.Operation)
}
