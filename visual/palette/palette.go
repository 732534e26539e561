// Package palette holds colour scales whose lightness rises evenly, so that
// order survives grey printing and the common kinds of colour blindness.
package palette

// Scale maps 0..255 to R, G, B.
type Scale [256][3]uint8

// Viridis runs from dark violet through green to yellow. It is interpolated
// with integers between nine points of the map of that name.
func Viridis() *Scale {
	return interpolate([9][3]uint8{
		{68, 1, 84},
		{71, 44, 122},
		{59, 81, 139},
		{44, 113, 142},
		{33, 144, 141},
		{39, 173, 129},
		{92, 200, 99},
		{170, 220, 50},
		{253, 231, 37},
	})
}

// Cividis runs from dark blue through grey to yellow and looks nearly the same
// with and without red-green colour blindness.
func Cividis() *Scale {
	return interpolate([9][3]uint8{
		{0, 34, 78},
		{26, 56, 111},
		{67, 78, 108},
		{97, 100, 112},
		{125, 124, 120},
		{155, 148, 119},
		{188, 174, 108},
		{221, 203, 92},
		{254, 232, 56},
	})
}

// Grey runs from black to white.
func Grey() *Scale {
	var s Scale
	for i := range s {
		s[i] = [3]uint8{uint8(i), uint8(i), uint8(i)}
	}
	return &s
}

func interpolate(points [9][3]uint8) *Scale {
	const steps = len(points) - 1
	var s Scale
	for i := range s {
		seg := min(i*steps/255, steps-1)
		at := i*steps - seg*255 // 0..255 within the segment
		for c := range 3 {
			a, b := int(points[seg][c]), int(points[seg+1][c])
			s[i][c] = uint8((a*(255-at) + b*at + 127) / 255)
		}
	}
	return &s
}
