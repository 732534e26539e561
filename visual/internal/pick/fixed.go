package pick

import (
	"math/bits"
	"slices"
)

// log64 is 64*log2(x) with linear interpolation between powers of two; 0 for x < 1.
func log64(x int) int {
	if x < 1 {
		return 0
	}
	e := bits.Len(uint(x)) - 1
	return 64*e + (x<<6)>>e - 64
}

// median is the lower median; it reorders v. The median of nothing is 0.
func median(v []int) int {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}
