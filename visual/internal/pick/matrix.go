// Package pick chooses which frames of a sequence to show. It knows frames
// only as indices with pairwise distances per region.
package pick

// Matrix holds the symmetric distances of one region between the frames of a
// segment. Frames known to be equal share a state, so that a long still
// stretch costs nothing.
type Matrix struct {
	state []int32
	n     int
	v     []uint16
}

// NewMatrix makes a zero matrix. state[i] is the state of frame i, states are
// numbered 0..states-1; the slice is kept, not copied.
func NewMatrix(state []int32, states int) *Matrix {
	return &Matrix{state: state, n: states, v: make([]uint16, states*states)}
}

// Set stores the distance between two states, saturating at 65535.
func (m *Matrix) Set(a, b, d int) {
	v := uint16(min(d, 1<<16-1))
	m.v[a*m.n+b], m.v[b*m.n+a] = v, v
}

// At returns the distance between frames i and j.
func (m *Matrix) At(i, j int) int {
	return int(m.v[int(m.state[i])*m.n+int(m.state[j])])
}

// Max is the greatest distance between any two frames.
func (m *Matrix) Max() int {
	var out uint16
	for _, v := range m.v {
		out = max(out, v)
	}
	return int(out)
}
