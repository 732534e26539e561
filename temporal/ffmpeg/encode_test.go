//go:build unix

package ffmpeg_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/temporal/ffmpeg"
)

func realFFmpeg(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("needs ffmpeg")
	}
	return path
}

func qualified(t testing.TB) *ffmpeg.Encoder {
	t.Helper()
	e, err := ffmpeg.Qualify(t.Context(), ffmpeg.Options{Path: realFFmpeg(t), Directory: t.TempDir()})
	require.NoError(t, err)
	return e
}

// still draws a page-like picture that is different for each i and has hard edges, fine lines and colour.
func still(width, height, i int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			p := img.Pix[img.PixOffset(x, y):][:4]
			p[0], p[1], p[2], p[3] = 244, 245, 247, 255
			switch {
			case y < height/6:
				p[0], p[1], p[2] = 30, 35, 44
			case x > width/8 && x < width/8+40 && (y+i*7)%60 < 30:
				p[0], p[1], p[2] = uint8(37+i*40), 99, uint8(235-i*30)
			case x > width/2 && y%6 == 0:
				p[0], p[1], p[2] = 60, 60, 60
			}
		}
	}
	return img
}

func request(t testing.TB, width, height int, durations ...time.Duration) ffmpeg.Request {
	return ffmpeg.Request{
		Width: width, Height: height, Durations: durations, Directory: t.TempDir(),
		Picture: func(_ context.Context, i int) (*image.RGBA, error) { return still(width, height, i), nil },
	}
}

// probe is what ffprobe says of a clip.
type probe struct {
	Streams []struct {
		CodecType  string `json:"codec_type"`
		CodecName  string `json:"codec_name"`
		PixFmt     string `json:"pix_fmt"`
		ColorSpace string `json:"color_space"`
		ColorRange string `json:"color_range"`
		TimeBase   string `json:"time_base"`
		Duration   int64  `json:"duration_ts"`
		Width      int    `json:"width"`
		Height     int    `json:"height"`
	} `json:"streams"`
	Frames []struct {
		PTS int64 `json:"pts"`
	} `json:"frames"`
}

func ffprobe(t *testing.T, path string) probe {
	t.Helper()
	tool, err := exec.LookPath("ffprobe")
	if err != nil {
		t.Skip("needs ffprobe")
	}
	out, err := exec.Command(tool, "-v", "error", "-show_streams", "-show_frames", "-of", "json", path).Output()
	require.NoError(t, err)
	var p probe
	require.NoError(t, json.Unmarshal(out, &p))
	return p
}

// decode returns the pictures of a clip as RGB.
func decode(t *testing.T, path string, size int) [][]byte {
	t.Helper()
	out, err := exec.Command(realFFmpeg(t), "-v", "error", "-i", path, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
	require.NoError(t, err)
	require.Zero(t, len(out)%size)
	var frames [][]byte
	for ; len(out) > 0; out = out[size:] {
		frames = append(frames, out[:size])
	}
	return frames
}

// meanDifference of a picture and the upper left part of a decoded one of the given width.
func meanDifference(img *image.RGBA, rgb []byte, width int) float64 {
	sum := 0.0
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			for c := range 3 {
				sum += math.Abs(float64(img.Pix[img.PixOffset(x, y)+c]) - float64(rgb[3*(y*width+x)+c]))
			}
		}
	}
	return sum / float64(3*img.Rect.Dx()*img.Rect.Dy())
}

func TestDecodedClipHasThePicturesAtTheirTimes(t *testing.T) {
	e := qualified(t)
	for name, r := range map[string]ffmpeg.Request{
		"uneven": request(t, 640, 360, 16_700*time.Microsecond, 18_651*time.Microsecond, time.Second, 7*time.Microsecond, 250*time.Millisecond, 1500001*time.Microsecond),
		"single": request(t, 320, 200, 3*time.Second),
		"odd":    request(t, 321, 199, 40*time.Millisecond, 40*time.Millisecond, 40*time.Millisecond),
		"short":  request(t, 320, 200, 20*time.Millisecond, time.Millisecond),
		"large":  request(t, 1920, 1080, 17*time.Millisecond, time.Second, 100*time.Millisecond),
		"long":   request(t, 320, 200, 29*time.Second, 30*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			done := 0
			r.Progress = func(n, total int) {
				done++
				assert.Equal(t, done, n)
				assert.Equal(t, len(r.Durations), total)
			}
			clip, err := e.Encode(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, len(r.Durations), done)
			p := ffprobe(t, clip.Path)
			require.Len(t, p.Streams, 1, "no audio")
			s := p.Streams[0]
			assert.Equal(t, []string{"video", "h264", "yuv420p", "bt709", "tv", "1/1000000"},
				[]string{s.CodecType, s.CodecName, s.PixFmt, s.ColorSpace, s.ColorRange, s.TimeBase})
			assert.Equal(t, []int{clip.Width, clip.Height}, []int{s.Width, s.Height})
			assert.Equal(t, (r.Width+1)/2*2, s.Width)

			var at time.Duration
			// A closing sample without duration is not shown.
			require.Subset(t, []int{len(r.Durations), len(r.Durations) + 1}, []int{len(p.Frames)})
			frames := decode(t, clip.Path, 3*s.Width*s.Height)
			require.Len(t, frames, len(p.Frames))
			for i, d := range r.Durations {
				assert.Equal(t, at, clip.Times[i], "picture %d", i)
				assert.Equal(t, at.Microseconds(), p.Frames[i].PTS, "picture %d", i)
				want, _ := r.Picture(t.Context(), i)
				// Most of what is left comes from the halved chroma at coloured edges.
				assert.Less(t, meanDifference(want, frames[i], s.Width), 3.0, "picture %d", i)
				at += d
			}
			last, _ := r.Picture(t.Context(), len(r.Durations)-1)
			assert.Less(t, meanDifference(last, frames[len(frames)-1], s.Width), 3.0, "closing sample")
			assert.Equal(t, clip.Length.Microseconds(), s.Duration)
			if name != "short" {
				assert.Equal(t, at, clip.Length)
			}
		})
	}
}

func TestPublishedClipIsWhole(t *testing.T) {
	e := qualified(t)
	r := request(t, 320, 200, time.Second, time.Second)
	clip, err := e.Encode(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, clip.Build, "ffmpeg version ")
	assert.Equal(t, e.Build(), clip.Build)
	assert.Equal(t, "libx264", clip.Encoder)
	assert.NotContains(t, clip.Parameters, clip.Path)
	info, err := os.Stat(clip.Path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Equal(t, clip.Bytes, info.Size())

	path := filepath.Join(r.Directory, "clip.mp4")
	require.NoError(t, clip.Publish(path))
	left, err := os.ReadDir(r.Directory)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "clip.mp4", left[0].Name())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Len(t, data, int(clip.Bytes))

	again, err := e.Encode(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, clip.SHA256, again.SHA256, "one build gives the same bytes again")
	require.NoError(t, again.Discard())
	require.NoError(t, again.Discard(), "discarding twice is harmless")
	require.NoFileExists(t, again.Path)
}

func TestFilesThatCannotBeStored(t *testing.T) {
	e := qualified(t)
	r := request(t, 64, 64, time.Second)
	good := r.Directory
	r.Directory = filepath.Join(good, "none")
	_, err := e.Encode(t.Context(), r)
	require.Equal(t, fault.PersistenceFailed, fault.CodeOf(err))
	assert.Equal(t, "create", fault.From(err).Persistence.Operation)
	assert.NotContains(t, err.Error(), good)

	r.Directory = good
	clip, err := e.Encode(t.Context(), r)
	require.NoError(t, err)
	err = clip.Publish(filepath.Join(good, "none", "clip.mp4"))
	require.Equal(t, fault.PersistenceFailed, fault.CodeOf(err))
	assert.Equal(t, "rename", fault.From(err).Persistence.Operation)
	require.FileExists(t, clip.Path, "it is still there to be published elsewhere")
}

func TestPlayersCanStartBeforeTheEnd(t *testing.T) {
	clip, err := qualified(t).Encode(t.Context(), request(t, 320, 200, time.Second))
	require.NoError(t, err)
	data, err := os.ReadFile(clip.Path)
	require.NoError(t, err)
	assert.Less(t, bytes.Index(data, []byte("moov")), bytes.Index(data, []byte("mdat")))
}

func BenchmarkEncode1080p60(b *testing.B) {
	e := qualified(b)
	durations := make([]time.Duration, 60)
	pictures := make([]*image.RGBA, len(durations))
	for i := range durations {
		durations[i] = 17 * time.Millisecond
		pictures[i] = still(1920, 1080, i%9)
	}
	r := request(b, 1920, 1080, durations...)
	r.Picture = func(_ context.Context, i int) (*image.RGBA, error) { return pictures[i], nil }
	for b.Loop() {
		clip, err := e.Encode(b.Context(), r)
		require.NoError(b, err)
		b.ReportMetric(float64(clip.Bytes), "file-bytes")
		require.NoError(b, clip.Discard())
	}
}

// A clip of pictures whose colour is known: what the conversion does to it is within rounding.
func TestPlainColoursSurvive(t *testing.T) {
	e := qualified(t)
	colours := [][3]uint8{{0, 0, 0}, {255, 255, 255}, {255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {128, 128, 128}, {17, 20, 26}, {217, 119, 6}}
	durations := make([]time.Duration, len(colours))
	for i := range durations {
		durations[i] = 100 * time.Millisecond
	}
	r := request(t, 64, 64, durations...)
	r.Picture = func(_ context.Context, i int) (*image.RGBA, error) {
		img := image.NewRGBA(image.Rect(0, 0, 64, 64))
		for at := 0; at < len(img.Pix); at += 4 {
			copy(img.Pix[at:], colours[i][:])
		}
		return img, nil
	}
	clip, err := e.Encode(t.Context(), r)
	require.NoError(t, err)
	for i, frame := range decode(t, clip.Path, 3*64*64)[:len(colours)] {
		for c := range 3 {
			got := int(frame[3*(32*64+32)+c])
			assert.InDelta(t, int(colours[i][c]), got, 4, strconv.Itoa(i))
		}
	}
}

func TestPictureErrorsComeBackAsTheyAre(t *testing.T) {
	e := qualified(t)
	r := request(t, 64, 64, time.Second, time.Second)
	r.Picture = func(_ context.Context, i int) (*image.RGBA, error) {
		if i == 1 {
			return nil, io.ErrUnexpectedEOF
		}
		return still(64, 64, i), nil
	}
	_, err := e.Encode(t.Context(), r)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	r.Picture = func(context.Context, int) (*image.RGBA, error) { return still(64, 65, 0), nil }
	_, err = e.Encode(t.Context(), r)
	require.ErrorContains(t, err, "not 64 x 64")
	left, err := os.ReadDir(r.Directory)
	require.NoError(t, err)
	require.Empty(t, left)
}
