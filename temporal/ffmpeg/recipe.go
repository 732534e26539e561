package ffmpeg

import (
	"slices"
	"strconv"
	"strings"
)

// recipe says how one H.264 encoder is asked for a good picture without reordered samples.
type recipe struct {
	name    string
	device  []string // before the input
	options []string // after -c:v name
}

// recipes lists what is tried, best first. Without B-frames presentation order is coding order, so times need no edit list.
func recipes() []recipe {
	planar := []string{"-pix_fmt", "yuv420p"}
	paired := []string{"-pix_fmt", "nv12"}
	return []recipe{
		{name: "libx264", options: append([]string{"-preset", "veryfast", "-crf", "18", "-bf", "0"}, planar...)},
		{name: "libopenh264", options: append([]string{"-b:v", "8M"}, planar...)},
		{name: "h264_videotoolbox", options: append([]string{"-b:v", "8M", "-bf", "0", "-allow_sw", "1"}, planar...)},
		{name: "h264_nvenc", options: append([]string{"-b:v", "8M", "-bf", "0"}, planar...)},
		{name: "h264_qsv", options: append([]string{"-b:v", "8M", "-bf", "0"}, paired...)},
		{name: "h264_amf", options: append([]string{"-b:v", "8M", "-bf", "0"}, planar...)},
		{name: "h264_mf", options: append([]string{"-b:v", "8M", "-bf", "0"}, paired...)},
		{
			name: "h264_vaapi", device: []string{"-vaapi_device", "/dev/dri/renderD128"},
			options: []string{"-vf", "format=nv12,hwupload", "-qp", "20", "-bf", "0"},
		},
		{name: "h264_v4l2m2m", options: append([]string{"-b:v", "8M"}, planar...)},
		{name: "h264_omx", options: append([]string{"-b:v", "8M"}, planar...)},
	}
}

// listed returns the recipes whose encoder ffmpeg -encoders lists. A line is " V....D name  description".
func listed(encoders string) []recipe {
	names := map[string]bool{}
	for line := range strings.Lines(encoders) {
		if f := strings.Fields(line); len(f) >= 2 && strings.HasPrefix(f[0], "V") && len(f[0]) == 6 {
			names[f[1]] = true
		}
	}
	return slices.DeleteFunc(recipes(), func(r recipe) bool { return !names[r.name] })
}

// The two spellings of "keep every picture at its time": versions before 5.1 know the second only, and it is deprecated.
const (
	spellingNew = "-fps_mode"
	spellingOld = "-vsync"
)

// parameters returns the encoding parameters, without paths.
func (r recipe) parameters(spelling string) []string {
	out := append([]string{"-c:v", r.name}, r.options...)
	return append(out, "-threads", "2", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
		"-color_range", "tv", spelling, "passthrough", "-enc_time_base", "1:1000000",
		"-video_track_timescale", "1000000", "-movflags", "+faststart", "-f", "mp4")
}

// arguments returns the whole list for a Matroska stream on standard input and a file that may be overwritten. ffmpeg
// stops at maxBytes, which protects the disk; that the clip is incomplete then shows when it is checked.
func (r recipe) arguments(spelling, output string, maxBytes int64) []string {
	out := []string{"-nostdin", "-hide_banner", "-loglevel", "error"}
	out = append(out, r.device...)
	out = append(out, "-protocol_whitelist", "pipe", "-f", "matroska", "-i", "pipe:0",
		"-map", "0:v:0", "-an", "-sn", "-dn", "-map_metadata", "-1")
	out = append(out, r.parameters(spelling)...)
	return append(out, "-fs", strconv.FormatInt(maxBytes, 10), "-y", "file:"+output)
}
