package visualtest_test

import (
	"fmt"
	"testing"

	"github.com/krometrail/krometrail/visual/visualtest"
)

func BenchmarkGenerate(b *testing.B) {
	for _, opts := range []visualtest.Options{small, {Width: 1280, Height: 720}, {Width: 1920, Height: 1080}} {
		b.Run(fmt.Sprintf("%dx%d", opts.Width, opts.Height), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				generate(b, visualtest.Spec{Kind: visualtest.Flicker, Distractor: visualtest.Panel, Duration: 1, Seed: uint64(i)}, opts)
			}
		})
	}
}
