package visualtest_test

import (
	"context"
	"fmt"

	"github.com/krometrail/krometrail/visual/visualtest"
)

// Score two ways to choose eight frames over the shortest sequence of each defect.
func Example() {
	var uniform, cumulative visualtest.Tally
	for _, spec := range visualtest.DefectSuite(1, 1) {
		if spec.Distractor != visualtest.None || spec.Duration != 1 {
			continue
		}
		seq, err := visualtest.Generate(context.Background(), spec, visualtest.Options{Width: 640, Height: 360})
		if err != nil {
			fmt.Println(err)
			return
		}
		chosen := visualtest.Uniform(len(seq.Frames), 8)
		uniform.Add(spec, seq.Hit(chosen), len(chosen))
		chosen = seq.CumulativeChange(8)
		cumulative.Add(spec, seq.Hit(chosen), len(chosen))
	}
	fmt.Println("uniform   ", uniform.Total())
	fmt.Println("cumulative", cumulative.Total())
	// Output:
	// uniform    all               2/6     33.3%   8.0 frames
	// cumulative all               5/6     83.3%   5.3 frames
}
