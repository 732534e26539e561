package ffmpeg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of what the check reads. A clip within Limits stays far below them.
const (
	maxIndexBytes = 4 << 20
	maxSamples    = 1 << 16
)

// track is what the check learns of the one track of a clip. Times are in units of 1/timescale s.
type track struct {
	timescale     uint32
	width, height int
	profile       byte
	times         []int64
	end           int64
	sampleBytes   int64
	handler       string
}

// clipError says how a file is not the clip that was asked for.
type clipError string

func (e clipError) Error() string { return "the encoder's file: " + string(e) }

func wrong(format string, args ...any) error { return clipError(fmt.Sprintf(format, args...)) }

// inspect reads the structure of an MP4 file: index in front, and exactly one track.
//
//	ftyp | moov { trak { edts{elst} mdia { mdhd hdlr minf { stbl { stsd stts ctts stsz } } } } } | mdat
//
// Boxes between these are passed over.
func inspect(r io.ReaderAt, size int64) (*track, error) {
	var index *track
	for at := int64(0); at < size; {
		kind, head, length, err := boxAt(r, at, size)
		if err != nil {
			return nil, err
		}
		switch {
		case at == 0 && kind != "ftyp":
			return nil, wrong("it does not begin as MP4")
		case kind == "moov" && index != nil:
			return nil, wrong("it has two indexes")
		case kind == "moov":
			if index, err = readIndex(r, at+head, length-head); err != nil {
				return nil, err
			}
		case kind == "mdat" && index == nil:
			return nil, wrong("its index is not in front")
		case kind == "mdat" && length-head < index.sampleBytes:
			return nil, wrong("samples are missing")
		case kind == "mdat":
			return index, nil
		}
		at += length
	}
	return nil, wrong("it has no pictures")
}

// boxAt reads the header of the box at an offset: its kind, the size of the header and of the whole.
func boxAt(r io.ReaderAt, at, size int64) (kind string, head, length int64, err error) {
	var b [16]byte
	n, err := r.ReadAt(b[:min(16, size-at)], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", 0, 0, fmt.Errorf("read the encoder's file: %w", err)
	}
	if n < 8 {
		return "", 0, 0, wrong("it is cut")
	}
	head, length = 8, int64(binary.BigEndian.Uint32(b[:]))
	if length == 1 && n == 16 {
		head, length = 16, int64(binary.BigEndian.Uint64(b[8:]))
	}
	if length < head || length > size-at {
		return "", 0, 0, wrong("it is cut")
	}
	return string(b[4:8]), head, length, nil
}

func readIndex(r io.ReaderAt, at, length int64) (*track, error) {
	if length > maxIndexBytes {
		return nil, wrong("its index has %d bytes", length)
	}
	body := make([]byte, length)
	if _, err := r.ReadAt(body, at); err != nil {
		return nil, fmt.Errorf("read the encoder's file: %w", err)
	}
	return parseIndex(body)
}

// parseIndex reads the body of moov.
func parseIndex(moov []byte) (*track, error) {
	var tables []map[string][]byte
	err := eachBox(moov, func(kind string, body []byte) error {
		if kind != "trak" {
			return nil
		}
		found := map[string][]byte{}
		tables = append(tables, found)
		return collect(body, found)
	})
	if err != nil {
		return nil, err
	}
	if len(tables) != 1 {
		return nil, wrong("it has %d tracks", len(tables))
	}
	return newTrack(tables[0])
}

// collect fills found with the leaf boxes of a track.
func collect(b []byte, found map[string][]byte) error {
	return eachBox(b, func(kind string, body []byte) error {
		switch kind {
		case "mdia", "minf", "stbl", "edts":
			return collect(body, found)
		}
		found[kind] = body
		return nil
	})
}

func eachBox(b []byte, visit func(kind string, body []byte) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return wrong("a box is cut")
		}
		n := binary.BigEndian.Uint32(b)
		if n < 8 || uint64(n) > uint64(len(b)) {
			return wrong("a box is cut")
		}
		if err := visit(string(b[4:8]), b[8:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
