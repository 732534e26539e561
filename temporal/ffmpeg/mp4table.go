package ffmpeg

import "encoding/binary"

// newTrack reads the tables of a track, by the kind of their boxes.
func newTrack(tables map[string][]byte) (*track, error) {
	t := &track{}
	for _, read := range []func(map[string][]byte) error{t.readHeader, t.readFormat, t.readTimes, t.readOffsets, t.readSizes} {
		if err := read(tables); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *track) readHeader(tables map[string][]byte) error {
	mdhd, hdlr := tables["mdhd"], tables["hdlr"]
	at := 12
	if len(mdhd) > 0 && mdhd[0] == 1 {
		at = 20
	}
	if len(mdhd) < at+4 || len(hdlr) < 12 {
		return wrong("a track header is cut")
	}
	t.timescale, t.handler = binary.BigEndian.Uint32(mdhd[at:]), string(hdlr[8:12])
	if t.handler != "vide" {
		return wrong("its track is not video")
	}
	return nil
}

// readFormat reads the one sample entry, which must be H.264, and its profile.
func (t *track) readFormat(tables map[string][]byte) error {
	stsd := tables["stsd"]
	if len(stsd) < 8 || binary.BigEndian.Uint32(stsd[4:]) != 1 {
		return wrong("it has not one sample format")
	}
	return eachBox(stsd[8:], func(kind string, body []byte) error {
		if kind != "avc1" || len(body) < 78 {
			return wrong("its format is not H.264")
		}
		t.width, t.height = int(binary.BigEndian.Uint16(body[24:])), int(binary.BigEndian.Uint16(body[26:]))
		return eachBox(body[78:], func(kind string, body []byte) error {
			if kind == "avcC" && len(body) > 1 {
				t.profile = body[1]
			}
			return nil
		})
	})
}

// entries returns the n-byte entries of a table whose count stands at the given place.
func entries(table []byte, countAt, n int) ([]byte, error) {
	if len(table) < countAt+4 {
		return nil, wrong("a table is cut")
	}
	count := uint64(binary.BigEndian.Uint32(table[countAt:]))
	rest := table[countAt+4:]
	if count*uint64(n) > uint64(len(rest)) {
		return nil, wrong("a table is cut")
	}
	return rest[:count*uint64(n)], nil
}

func (t *track) readTimes(tables map[string][]byte) error {
	runs, err := entries(tables["stts"], 4, 8)
	if err != nil {
		return err
	}
	for ; len(runs) > 0; runs = runs[8:] {
		count, delta := binary.BigEndian.Uint32(runs), binary.BigEndian.Uint32(runs[4:])
		if uint64(count) > uint64(maxSamples-len(t.times)) {
			return wrong("it has too many samples")
		}
		for range count {
			t.times = append(t.times, t.end)
			t.end += int64(delta)
		}
	}
	return nil
}

// readOffsets turns decoding times into presentation times.
func (t *track) readOffsets(tables map[string][]byte) error {
	start := int64(0)
	if elst, ok := tables["elst"]; ok {
		if len(elst) != 20 || elst[0] != 0 || binary.BigEndian.Uint32(elst[4:]) != 1 {
			return wrong("it has edits")
		}
		start = int64(int32(binary.BigEndian.Uint32(elst[12:])))
	}
	ctts, ok := tables["ctts"]
	if !ok {
		ctts = make([]byte, 8)
	}
	runs, err := entries(ctts, 4, 8)
	if err != nil {
		return err
	}
	for i := range t.times {
		t.times[i] -= start
	}
	for i := 0; len(runs) > 0; runs = runs[8:] {
		offset := int64(int32(binary.BigEndian.Uint32(runs[4:])))
		for n := binary.BigEndian.Uint32(runs); n > 0 && i < len(t.times); n-- {
			t.times[i] += offset
			i++
		}
	}
	return nil
}

func (t *track) readSizes(tables map[string][]byte) error {
	stsz := tables["stsz"]
	if len(stsz) < 12 {
		return wrong("a table is cut")
	}
	if same := binary.BigEndian.Uint32(stsz[4:]); same != 0 {
		t.sampleBytes = int64(same) * int64(binary.BigEndian.Uint32(stsz[8:]))
		return t.countSizes(int(binary.BigEndian.Uint32(stsz[8:])))
	}
	sizes, err := entries(stsz, 8, 4)
	if err != nil {
		return err
	}
	for at := 0; at < len(sizes); at += 4 {
		t.sampleBytes += int64(binary.BigEndian.Uint32(sizes[at:]))
	}
	return t.countSizes(len(sizes) / 4)
}

func (t *track) countSizes(n int) error {
	if n != len(t.times) {
		return wrong("it has %d times for %d samples", len(t.times), n)
	}
	return nil
}

// check compares the track with what was asked for.
func (t *track) check(s schedule, width, height int) error {
	switch {
	case t.timescale != 1000000:
		return wrong("it counts %d units a second", t.timescale)
	case t.width != width || t.height != height:
		return wrong("its size is %d x %d, not %d x %d", t.width, t.height, width, height)
	case t.profile != 66 && t.profile != 77 && t.profile != 88 && t.profile != 100:
		return wrong("H.264 profile %d is not 8 bit 4:2:0", t.profile)
	case len(t.times) != len(s.samples):
		return wrong("it has %d samples, not %d", len(t.times), len(s.samples))
	case t.end != s.end:
		return wrong("it ends after %d us, not %d", t.end, s.end)
	}
	for i, at := range t.times {
		if at != s.samples[i].at {
			return wrong("sample %d is at %d us, not %d", i, at, s.samples[i].at)
		}
	}
	return nil
}
