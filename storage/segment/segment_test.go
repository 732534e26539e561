package segment_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/segment"
)

func header() segment.Header {
	return segment.Header{ID: id.New[id.Segment](), Session: id.New[id.Session](), CreatedWallNS: 1234567890}
}

type frame struct{ payload, meta []byte }

// write makes a segment file of frames and returns its bytes before and after sealing, and the payload offsets.
func write(t require.TestingT, dir string, frames []frame) (open, sealed []byte, offsets []int64) {
	tree, err := disk.OpenDir(dir)
	require.NoError(t, err)
	defer tree.Close()
	_ = tree.Mkdir(segment.Dir)
	h := header()
	w, err := segment.NewWriter(tree, h)
	require.NoError(t, err)
	var buffer segment.Buffer
	for _, f := range frames {
		payload, err := buffer.DecodePayload([]byte(base64.StdEncoding.EncodeToString(f.payload)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(f.payload, payload))
		offset, err := w.Append(buffer.Finish(f.meta))
		require.NoError(t, err)
		offsets = append(offsets, offset)
	}
	require.NoError(t, w.Flush())
	open = read(t, tree, segment.OpenName(h.ID))
	require.NoError(t, w.Seal())
	sealed = read(t, tree, segment.SealedName(h.ID))
	require.EqualValues(t, len(sealed), w.Size())
	return open, sealed, offsets
}

func read(t require.TestingT, tree disk.FS, name string) []byte {
	f, err := tree.Open(name)
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
	require.NoError(t, err)
	return content
}

func scan(t require.TestingT, content []byte) (segment.Extent, []frame) {
	var out []frame
	extent, err := segment.Scan(bytes.NewReader(content), int64(len(content)), func(r segment.Record) error {
		payload, err := segment.ReadPayload(bytes.NewReader(content), r.Offset, r.Payload)
		require.NoError(t, err)
		out = append(out, frame{payload, bytes.Clone(r.Meta)})
		return nil
	})
	require.NoError(t, err)
	return extent, out
}

func drawFrames(t *rapid.T) []frame {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) frame {
		return frame{rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "payload"), rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "meta")}
	}), 0, 8).Draw(t, "frames")
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		frames := drawFrames(t)
		open, sealed, offsets := write(t, dir, frames)
		for name, content := range map[string][]byte{"open": open, "sealed": sealed} {
			extent, got := scan(t, content)
			require.Len(t, got, len(frames))
			for i := range frames {
				require.True(t, bytes.Equal(frames[i].payload, got[i].payload))
				require.True(t, bytes.Equal(frames[i].meta, got[i].meta))
				payload, err := segment.ReadPayload(bytes.NewReader(content), offsets[i], int64(len(frames[i].payload)))
				require.NoError(t, err)
				require.True(t, bytes.Equal(frames[i].payload, payload))
			}
			require.Equal(t, name == "sealed", extent.Sealed)
			require.NoError(t, extent.Damage)
			require.EqualValues(t, len(open), extent.End)
			isSealed, err := segment.IsSealed(bytes.NewReader(content), int64(len(content)))
			require.NoError(t, err)
			require.Equal(t, name == "sealed", isSealed)
		}
	})
}

// A file that is cut anywhere gives exactly the records that lie completely before the cut.
func TestACutFileGivesItsCompleteRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		frames := drawFrames(t)
		_, sealed, _ := write(t, dir, frames)
		cut := rapid.IntRange(segment.HeaderSize, len(sealed)).Draw(t, "cut")
		want, end := 0, segment.HeaderSize
		for _, f := range frames {
			next := end + segment.RecordHeaderSize + len(f.payload) + len(f.meta)
			if next > cut {
				break
			}
			want, end = want+1, next
		}
		extent, got := scan(t, sealed[:cut])
		require.Len(t, got, want)
		require.EqualValues(t, end, extent.End)
		require.Equal(t, cut == len(sealed), extent.Sealed)
	})
}

// A flipped bit is never read as a different record: what comes before it is intact, the rest is not given.
func TestAFlippedBitIsFound(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		frames := drawFrames(t)
		_, sealed, _ := write(t, dir, frames)
		at := rapid.IntRange(segment.HeaderSize, len(sealed)-1).Draw(t, "at")
		damaged := bytes.Clone(sealed)
		damaged[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		extent, got := scan(t, damaged)
		require.False(t, extent.Sealed)
		require.LessOrEqual(t, extent.End, int64(at))
		for i, f := range got {
			require.True(t, bytes.Equal(frames[i].payload, f.payload))
		}
	})
}

func TestHeaderErrorsFromTheOutsideIn(t *testing.T) {
	good := segment.EncodeHeader(header())
	change := func(f func([]byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"empty":                        {nil, segment.ErrNotASegment},
		"text":                         {[]byte("hello"), segment.ErrNotASegment},
		"a newer version, no checksum": {change(func(b []byte) { binary.LittleEndian.PutUint16(b[4:], 2) }), segment.ErrUnsupportedVersion},
		"cut behind the magic":         {good[:5], segment.ErrCorrupt},
		"cut":                          {good[:40], segment.ErrCorrupt},
		"checksum":                     {change(func(b []byte) { b[45]++ }), segment.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := segment.DecodeHeader(c.content)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := segment.DecodeHeader(good)
	require.NoError(t, err)
}

func TestReadPayloadChecksThePosition(t *testing.T) {
	_, sealed, offsets := write(t, t.TempDir(), []frame{{[]byte("picture"), []byte("meta")}})
	for _, c := range [][2]int64{{0, 7}, {offsets[0] + 1, 7}, {offsets[0], 6}, {offsets[0], -1}, {offsets[0], segment.MaxPayload + 1}} {
		_, err := segment.ReadPayload(bytes.NewReader(sealed), c[0], c[1])
		require.ErrorIs(t, err, segment.ErrCorrupt, "%v", c)
	}
}

func FuzzScan(f *testing.F) {
	open, sealed, _ := write(f, f.TempDir(), []frame{{[]byte("one"), []byte(`{"a":1}`)}, {nil, nil}, {bytes.Repeat([]byte("x"), 300), []byte("m")}})
	f.Add(open)
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-3])
	f.Fuzz(func(t *testing.T, content []byte) {
		frames := uint64(0)
		extent, err := segment.Scan(bytes.NewReader(content), int64(len(content)), func(r segment.Record) error {
			frames++
			if _, err := segment.ReadPayload(bytes.NewReader(content), r.Offset, r.Payload); err != nil {
				t.Fatalf("a scanned record cannot be read: %v", err)
			}
			return nil
		})
		if err != nil {
			return
		}
		if extent.Frames != frames || extent.End > int64(len(content)) || extent.Sealed && extent.Damage != nil {
			t.Fatalf("impossible extent %+v of %d frames in %d bytes", extent, frames, len(content))
		}
	})
}
