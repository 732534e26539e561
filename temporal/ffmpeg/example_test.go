//go:build unix

package ffmpeg_test

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/krometrail/krometrail/temporal/ffmpeg"
)

// Hold a picture for a second and another one for half a second.
func Example() {
	ctx := context.Background()
	encoder, err := ffmpeg.Qualify(ctx, ffmpeg.Options{Path: "/usr/bin/ffmpeg", Directory: "/var/tmp"})
	if err != nil {
		fmt.Println(err) // for example "ffmpeg is not qualified: not_found"
		return
	}
	clip, err := encoder.Encode(ctx, ffmpeg.Request{
		Width: 640, Height: 360, Directory: "/var/tmp",
		Durations: []time.Duration{time.Second, time.Second / 2},
		Picture: func(_ context.Context, i int) (*image.RGBA, error) {
			picture := image.NewRGBA(image.Rect(0, 0, 640, 360))
			picture.Pix[0] = uint8(i)
			return picture, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(clip.Length, clip.Encoder, clip.Times)
	if err := clip.Publish("/var/tmp/clip.mp4"); err != nil {
		fmt.Println(err)
	}
}
