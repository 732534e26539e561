package swar

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func absInt(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

func TestEqualsScalar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "b")
		limit := rapid.Uint8Range(0, 127).Draw(t, "limit")
		checkLanes(t, a, b, limit)
	})
}

// TestEveryBytePair covers what random draws may miss: each lane value pair.
func TestEveryBytePair(t *testing.T) {
	a, b := make([]byte, 8), make([]byte, 8)
	for x := range 256 {
		for y := range 256 {
			for i := range a {
				a[i], b[i] = byte(x), byte(y)
			}
			a[3], b[3] = byte(y), byte(x)
			checkLanes(t, a, b, uint8(x&127))
		}
	}
}

func checkLanes(t interface{ Fatalf(string, ...any) }, a, b []byte, limit uint8) {
	d := AbsDiff(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	over := Over(d, limit)
	sum, count := 0, 0
	var packed uint8
	for i := range 8 {
		want := absInt(int(a[i]) - int(b[i]))
		if got := int(d >> (8 * i) & 0xff); got != want {
			t.Fatalf("lane %d: |%d-%d| = %d, got %d", i, a[i], b[i], want, got)
		}
		sum += min(want, 64)
		if want > int(limit) {
			count++
			packed |= 1 << i
		}
	}
	if ClampSum(d) != sum {
		t.Fatalf("clamped sum of %x: got %d, want %d", d, ClampSum(d), sum)
	}
	if Count(over) != count || Bits(over) != packed {
		t.Fatalf("over %d of %x: got %d lanes %08b, want %d %08b", limit, d, Count(over), Bits(over), count, packed)
	}
}
