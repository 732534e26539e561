// Package imagehead reads the format and size of an encoded image from its first bytes, without decoding it.
package imagehead

import (
	"encoding/binary"
	"errors"
)

// Formats that Read recognises.
const (
	JPEG = "jpeg"
	PNG  = "png"
)

// ErrUnknown says that the bytes start neither a JPEG nor a PNG image with a size.
var ErrUnknown = errors.New("imagehead: neither JPEG nor PNG")

// Info is what an image says about itself. Width and Height are in pixels and at least 1.
type Info struct {
	Format        string
	Width, Height int
}

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	pngHeadLen   = 24
	sofLen       = 9
)

// Read returns the format and size of the image that data starts with; ErrUnknown for anything else.
// It allocates nothing and reads at most the headers.
func Read(data []byte) (Info, error) {
	switch {
	case len(data) >= pngHeadLen && string(data[:8]) == pngSignature:
		return readPNG(data)
	case len(data) >= 4 && data[0] == 0xFF && data[1] == 0xD8:
		return readJPEG(data)
	}
	return Info{}, ErrUnknown
}

func readPNG(data []byte) (Info, error) {
	if string(data[12:16]) != "IHDR" {
		return Info{}, ErrUnknown
	}
	width, height := binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:])
	if width == 0 || height == 0 || width > 1<<30 || height > 1<<30 {
		return Info{}, ErrUnknown
	}
	return Info{Format: PNG, Width: int(width), Height: int(height)}, nil
}

// readJPEG walks the marker segments up to the start of frame, which holds the size.
func readJPEG(data []byte) (Info, error) {
	rest := data[2:]
	for len(rest) >= 4 {
		if rest[0] != 0xFF {
			return Info{}, ErrUnknown
		}
		marker := rest[1]
		if marker == 0xFF { // fill byte
			rest = rest[1:]
			continue
		}
		if isFrameStart(marker) {
			return readFrameStart(rest[2:])
		}
		if marker == 0xD9 || marker == 0xDA || marker == 0 {
			return Info{}, ErrUnknown
		}
		if marker == 0x01 || marker >= 0xD0 && marker <= 0xD8 { // markers without a length
			rest = rest[2:]
			continue
		}
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || 2+length > len(rest) {
			return Info{}, ErrUnknown
		}
		rest = rest[2+length:]
	}
	return Info{}, ErrUnknown
}

// isFrameStart reports SOF0..SOF15 without DHT, JPG and DAC, which share their range.
func isFrameStart(marker byte) bool {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
}

func readFrameStart(segment []byte) (Info, error) {
	if len(segment) < sofLen {
		return Info{}, ErrUnknown
	}
	height, width := int(binary.BigEndian.Uint16(segment[3:])), int(binary.BigEndian.Uint16(segment[5:]))
	if width == 0 || height == 0 {
		return Info{}, ErrUnknown
	}
	return Info{Format: JPEG, Width: width, Height: height}, nil
}
