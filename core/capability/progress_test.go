package capability_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/krometrail/krometrail/core/capability"
)

func TestProgressReachesWhoAsked(t *testing.T) {
	capability.Progress(t.Context(), 1, 2, "nobody hears")
	var heard []float64
	ctx := capability.WithProgress(t.Context(), func(done, total float64, _ string) { heard = append(heard, done, total) })
	capability.Progress(context.WithoutCancel(ctx), 1, 3, "one")
	capability.Progress(capability.WithoutProgress(ctx), 9, 9, "a part's own units")
	assert.Equal(t, []float64{1, 3}, heard)
}
