// Package swar compares eight unsigned bytes at a time inside one uint64.
//
// Every function is exact for all inputs; the scalar meaning is given with
// each and checked against it by property tests.
package swar

import "math/bits"

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	lows  = 0x7f7f7f7f7f7f7f7f
	evens = 0x00ff00ff00ff00ff
)

// AbsDiff returns |a-b| for each byte lane.
func AbsDiff(a, b uint64) uint64 {
	d := ((a | highs) - (b &^ highs)) ^ ((a ^ ^b) & highs)
	borrow := ((^a & b) | (^(a ^ b) & d)) & highs
	// A lane that borrowed holds 256-(b-a): complement and add one. It is
	// never 0 there, so the addition cannot carry into the next lane.
	one := borrow >> 7
	return (d ^ (one * 0xff)) + one
}

// Over returns a mask with the high bit of each lane set whose byte exceeds t.
// t must be below 128.
func Over(d uint64, t uint8) uint64 {
	return ((d & lows) + ones*uint64(127-t) | d) & highs
}

// ClampSum returns the sum over all lanes of min(byte, 64).
func ClampSum(d uint64) int {
	m := Over(d, 63) >> 7
	full := m * 0xff
	d = d&^full | m<<6
	d = d&evens + d>>8&evens
	return int(d * 0x0001000100010001 >> 48)
}

// Bits packs the lane mask returned by Over into eight bits, lane 0 lowest.
func Bits(mask uint64) uint8 {
	return uint8((mask >> 7) * 0x0102040810204080 >> 56)
}

// Count returns how many lanes of a mask returned by Over are set.
func Count(mask uint64) int { return bits.OnesCount64(mask) }
