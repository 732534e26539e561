package visualtest_test

import (
	"context"
	"fmt"

	"github.com/krometrail/krometrail/visual/visualtest"
)

// Score two ways to choose eight frames over one sequence of each combination of defect and duration.
func Example() {
	var uniform, cumulative visualtest.Tally
	for _, spec := range visualtest.DefectSuite(1, 1) {
		if spec.Distractor != visualtest.None {
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
	// uniform    all               5/18    27.8%   8.0 frames
	// cumulative all              14/18    77.8%   5.4 frames
}
