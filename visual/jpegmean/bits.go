package jpegmean

import (
	"encoding/binary"
)

// bitReader reads the entropy-coded bits of one segment. acc holds the next
// bits from the top; n of them are accounted for. Bits below those may already
// hold the bytes that follow, never anything else.
type bitReader struct {
	data []byte
	pos  int
	acc  uint64
	n    uint
	pad  uint // zero bits invented after the end of the segment
}

// refill makes at least 56 bits available.
func (r *bitReader) refill() {
	if r.pos+8 <= len(r.data) {
		w := binary.BigEndian.Uint64(r.data[r.pos:])
		// No byte of w is 0xff when no byte of its complement is zero.
		c := ^w
		if (c-0x0101010101010101)&^c&0x8080808080808080 == 0 {
			r.acc |= w >> r.n
			r.pos += int((63 - r.n) >> 3)
			r.n |= 56
			return
		}
	}
	for r.n < 56 {
		r.byte()
	}
}

// byte appends one byte, taking stuffed zeros out; at a marker or the end of
// the data it invents zeros.
func (r *bitReader) byte() {
	var b byte
	switch {
	case r.pos >= len(r.data):
		r.pad += 8
	case r.data[r.pos] != 0xff:
		b = r.data[r.pos]
		r.pos++
	case r.pos+1 < len(r.data) && r.data[r.pos+1] == 0:
		b = 0xff
		r.pos += 2
	default:
		r.pad += 8
	}
	r.acc |= uint64(b) << (56 - r.n)
	r.n += 8
}

// overrun reports whether more bits were read than the segment holds.
func (r *bitReader) overrun() bool { return r.n < r.pad }

// restart skips to just behind the next restart marker and drops leftover bits.
func (r *bitReader) restart() bool {
	for r.pos+1 < len(r.data) {
		if r.data[r.pos] == 0xff {
			if m := r.data[r.pos+1]; m >= 0xd0 && m <= 0xd7 {
				r.pos += 2
				r.acc, r.n, r.pad = 0, 0, 0
				return true
			} else if m != 0 && m != 0xff {
				return false
			}
		}
		r.pos++
	}
	return false
}

// lutBits is the length of code that one table look-up decodes.
const lutBits = 10

// huffman is a code table. An entry of lut is zero when the code is longer
// than lutBits, else code length | value size << 5 | zero run << 9.
type huffman struct {
	lut    [1 << lutBits]uint16
	first  [17]int32 // first code of each length
	last   [17]int32 // last code of each length, -1 when none
	offset [17]int32 // index in symbols of the first code
	syms   [256]byte
	ready  bool
}

// build fills the table from the counts and symbols of a DHT segment.
func (h *huffman) build(counts, symbols []byte) bool {
	*h = huffman{ready: true}
	copy(h.syms[:], symbols)
	code, index := int32(0), int32(0)
	for l := 1; l <= 16; l++ {
		n := int32(counts[l-1])
		h.first[l], h.last[l], h.offset[l] = code, code+n-1, index
		if n == 0 {
			h.last[l] = -1
		}
		if code+n > 1<<l {
			return false
		}
		for i := int32(0); i < n && l <= lutBits; i++ {
			h.fillLUT(code+i, l, h.syms[index+i])
		}
		code, index = (code+n)<<1, index+n
	}
	return true
}

func (h *huffman) fillLUT(code int32, length int, sym byte) {
	entry := uint16(length) | uint16(sym&0xf)<<5 | uint16(sym>>4)<<9
	base := int(code) << (lutBits - length)
	for i := range 1 << (lutBits - length) {
		h.lut[base+i] = entry
	}
}

// long decodes a code of more than lutBits bits from the top of acc; it
// returns 0 when there is none.
func (h *huffman) long(acc uint64) uint32 {
	for l := lutBits + 1; l <= 16; l++ {
		code := int32(acc >> (64 - l))
		if h.last[l] >= 0 && code <= h.last[l] && code >= h.first[l] {
			sym := h.syms[(h.offset[l]+code-h.first[l])&0xff]
			return uint32(l) | uint32(sym&0xf)<<5 | uint32(sym>>4)<<9
		}
	}
	return 0
}

// extend reads the signed value of the given size that starts after skip bits.
func extend(acc uint64, skip, size uint32) int32 {
	v := int32(acc << skip >> (64 - size))
	if v>>(size-1) == 0 {
		v -= 1<<size - 1
	}
	return v
}

// markers of the file format.
const (
	markerSOF0 = 0xc0
	markerSOF1 = 0xc1
	markerDHT  = 0xc4
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerDRI  = 0xdd
	markerAPPE = 0xee
)

// isFrame reports whether m starts a frame header of any coding process.
func isFrame(m byte) bool {
	return m >= 0xc0 && m <= 0xcf && m != markerDHT && m != 0xc8 && m != 0xcc
}

// zigzag maps coding order to row-major position.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
