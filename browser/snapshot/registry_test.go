package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
)

func TestReferencesBelongToOnePage(t *testing.T) {
	one, two := browsertest.Page(t, `<button>One</button>`), browsertest.Page(t, `<button>Two</button>`)
	r := snapshot.NewRegistry()
	a, err := r.Acquire(t.Context(), one, snapshot.Options{Frames: "all"})
	require.NoError(t, err)
	b, err := r.Acquire(t.Context(), two, snapshot.Options{Frames: "all"})
	require.NoError(t, err)
	assert.NotEqual(t, a.Generation, b.Generation, "generations are unique in the session")
	ref := a.Sections[0].Nodes[0].Ref
	target, err := r.TargetOf(ref)
	require.NoError(t, err)
	assert.Equal(t, one.Target(), target)
	_, _, err = r.Find(two, ref)
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), "a contradiction names both pages")
	assert.Contains(t, err.Error(), string(one.Target()))
	assert.Contains(t, err.Error(), string(two.Target()))

	r.Forget(one.Target())
	_, err = r.TargetOf(ref)
	assert.Equal(t, fault.StaleReference, fault.CodeOf(err), "a closed page takes its references with it")
	_, err = r.TargetOf("e1@99999")
	assert.Equal(t, fault.StaleReference, fault.CodeOf(err))
	_, err = r.TargetOf("42")
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
}
