package ffmpeg

import (
	"bytes"
	"encoding/binary"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// box returns an MP4 box.
func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(append(out, kind...), body...)
}

func words(values ...uint32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

// clipFile returns the smallest file that inspect accepts, with the given tables in place of the usual ones.
func clipFile(tables map[string][]byte) []byte {
	entry := make([]byte, 78)
	binary.BigEndian.PutUint16(entry[24:], 64)
	binary.BigEndian.PutUint16(entry[26:], 48)
	usual := map[string][]byte{
		"mdhd": words(0, 0, 0, 1000000, 0, 0), "hdlr": append(words(0, 0), "vide"...),
		"stsd": append(words(0, 1), box("avc1", entry, box("avcC", []byte{1, 100, 0, 10}))...),
		"stts": words(0, 2, 2, 10, 1, 5), "stsz": words(0, 0, 3, 7, 8, 9),
	}
	maps.Copy(usual, tables)
	var stbl, edts []byte
	for _, kind := range []string{"stsd", "stts", "ctts", "stsz"} {
		if body, ok := usual[kind]; ok {
			stbl = append(stbl, box(kind, body)...)
		}
	}
	if body, ok := usual["elst"]; ok {
		edts = box("edts", box("elst", body))
	}
	mdia := box("mdia", box("mdhd", usual["mdhd"]), box("hdlr", usual["hdlr"]), box("minf", box("stbl", stbl)))
	return bytes.Join([][]byte{box("ftyp", []byte("isom")), box("moov", box("trak", edts, mdia)), box("mdat", make([]byte, 24))}, nil)
}

func TestInspect(t *testing.T) {
	for name, c := range map[string]struct {
		tables map[string][]byte
		times  []int64
		fails  string
	}{
		"plain":           {times: []int64{0, 10, 20}},
		"reordered":       {tables: map[string][]byte{"ctts": words(0, 3, 1, 10, 1, 20, 1, 0), "elst": words(0, 1, 25, 10, 1<<16)}, times: []int64{0, 20, 10}},
		"long header":     {tables: map[string][]byte{"mdhd": words(1<<24, 0, 0, 0, 0, 1000000, 0, 0, 0)}, times: []int64{0, 10, 20}},
		"equal sizes":     {tables: map[string][]byte{"stsz": words(0, 8, 3)}, times: []int64{0, 10, 20}},
		"audio":           {tables: map[string][]byte{"hdlr": append(words(0, 0), "soun"...)}, fails: "not video"},
		"two edits":       {tables: map[string][]byte{"elst": words(0, 2, 5, 0xFFFFFFFF, 1<<16, 25, 0, 1<<16)}, fails: "edits"},
		"missing samples": {tables: map[string][]byte{"stsz": words(0, 0, 3, 7, 8, 10)}, fails: "samples are missing"},
		"count differs":   {tables: map[string][]byte{"stsz": words(0, 0, 2, 7, 8)}, fails: "3 times for 2 samples"},
		"cut table":       {tables: map[string][]byte{"stts": words(0, 4, 1, 1)}, fails: "cut"},
		"bomb":            {tables: map[string][]byte{"stts": words(0, 1, 0xFFFFFFFF, 1)}, fails: "too many samples"},
		"no format":       {tables: map[string][]byte{"stsd": words(0, 0)}, fails: "not one sample format"},
	} {
		t.Run(name, func(t *testing.T) {
			data := clipFile(c.tables)
			got, err := inspect(bytes.NewReader(data), int64(len(data)))
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.times, got.times)
			assert.Equal(t, []int64{64, 48, 100, 25}, []int64{int64(got.width), int64(got.height), int64(got.profile), got.end})
		})
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(clipFile(nil))
	f.Add(clipFile(map[string][]byte{"ctts": words(0, 1, 3, 10), "elst": words(0, 1, 25, 10, 1<<16)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := inspect(bytes.NewReader(data), int64(len(data)))
		if err == nil && len(got.times) > maxSamples {
			t.Errorf("%d samples", len(got.times))
		}
	})
}

func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64Range(int64(tick), int64(2*time.Second)), 1, 50).Draw(t, "durations")
		durations := make([]time.Duration, len(raw))
		for i, d := range raw {
			durations[i] = time.Duration(d)
		}
		closing := rapid.SampledFrom([]int64{0, 1, usualSample, maxClosing}).Draw(t, "closing")
		s, err := newSchedule(durations, closing)
		if err != nil {
			t.Fatal(err)
		}
		var sum, at time.Duration
		for i, start := range s.times() {
			if diff := (start - sum).Abs(); diff > tick/2 {
				t.Fatalf("picture %d begins %v from its time", i, diff)
			}
			sum += durations[i]
		}
		for i, one := range s.samples {
			if one.duration < min(1, closing) || one.at != int64(at/tick) {
				t.Fatalf("sample %d is %+v after %v", i, one, at)
			}
			at += time.Duration(one.duration) * tick
		}
		if at != s.length() || s.samples[len(s.samples)-1].duration != closing || len(s.samples) != len(durations)+1 {
			t.Fatalf("length %v, samples end at %v", s.length(), at)
		}
		if last := durations[len(durations)-1]; last > time.Duration(closing+2)*tick && (s.length()-sum).Abs() > tick/2 {
			t.Fatalf("length %v, want %v", s.length(), sum)
		}
	})
}

func TestConversionRepeatsTheLastLine(t *testing.T) {
	p := newPlanes(3, 3)
	assert.Equal(t, []int{4, 4, 24}, []int{p.width, p.height, len(p.data)})
}

func TestListed(t *testing.T) {
	names := []string{}
	for _, r := range listed(" V..... = Video\n V....D h264_vaapi  x\n V....D libx264rgb y\n V....D libx264 libx264 H.264\n A....D libopenh264 z\nlibopenh264\n") {
		names = append(names, r.name)
	}
	assert.Equal(t, []string{"libx264", "h264_vaapi"}, names, "best first")
}

func TestDiagnostic(t *testing.T) {
	long := append(bytes.Repeat([]byte("é "), 5000), "the end"...)
	got := diagnostic(long)
	assert.LessOrEqual(t, len(got), diagnosticBytes)
	assert.Contains(t, got, "the end")
	assert.Equal(t, "a b", diagnostic([]byte("\x1b a\r\n\tb\x00")))
}
