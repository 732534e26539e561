package segment

import (
	"encoding/base64"
	"encoding/binary"
)

const (
	base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	invalidDigit   = 1 << 31
)

// digits[i][c] is what character c at place i of a group of four adds to the group's 24 bits, or invalidDigit.
type digits [4][256]uint32

var base64Digits = makeDigits()

func makeDigits() *digits {
	var d digits
	for place := range d {
		for c := range d[place] {
			d[place][c] = invalidDigit
		}
		for value, c := range []byte(base64Alphabet) {
			d[place][c] = uint32(value) << (18 - 6*place)
		}
	}
	return &d
}

// decodeBase64 decodes standard base64 like encoding/base64, but faster on plain text: decoding is most of what
// storing a frame costs. dst must have room for base64.StdEncoding.DecodedLen(len(src)) bytes.
func decodeBase64(dst, src []byte) (int, error) {
	d := base64Digits
	n, i := 0, 0
	// Eight characters give six bytes. The last groups, which may be padded, and anything that is not plain are
	// left to the standard library; each word written here is overwritten or cut by what follows.
	for ; i+16 <= len(src) && n+8 <= len(dst); i, n = i+8, n+6 {
		s := src[i : i+8 : i+8]
		high := d[0][s[0]] | d[1][s[1]] | d[2][s[2]] | d[3][s[3]]
		low := d[0][s[4]] | d[1][s[5]] | d[2][s[6]] | d[3][s[7]]
		if (high|low)&invalidDigit != 0 {
			break
		}
		binary.BigEndian.PutUint64(dst[n:], uint64(high)<<40|uint64(low)<<16)
	}
	rest, err := base64.StdEncoding.Decode(dst[n:], src[i:])
	return n + rest, err
}
