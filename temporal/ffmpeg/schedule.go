package ffmpeg

import (
	"errors"
	"fmt"
	"time"
)

// schedule says when each sample is presented, in ticks from the start of the clip.
type schedule struct {
	samples []sample
	end     int64
	// pictures is how many of the samples begin a picture: all but the last one.
	pictures int
}

// sample is a picture, or the last part of the last picture.
type sample struct{ at, duration int64 }

// newSchedule rounds the sums of durations to ticks, so that errors do not add up. The sample that ends the clip lasts
// closing ticks.
func newSchedule(durations []time.Duration, closing int64) (schedule, error) {
	if len(durations) == 0 {
		return schedule{}, errors.New("ffmpeg: a clip needs a picture")
	}
	s := schedule{pictures: len(durations)}
	var sum time.Duration
	for i, d := range durations {
		if d <= 0 || d > 24*time.Hour {
			return schedule{}, fmt.Errorf("ffmpeg: picture %d lasts %v", i, d)
		}
		at := ticks(sum)
		sum += d
		s.samples = append(s.samples, sample{at: at, duration: ticks(sum) - at})
		if ticks(sum) == at {
			return schedule{}, fmt.Errorf("ffmpeg: picture %d lasts %v, less than the unit of %v", i, d, tick)
		}
	}
	s.split(closing)
	return s, nil
}

func ticks(d time.Duration) int64 { return int64((d + tick/2) / tick) }

// split cuts the last sample in two, the second of which lasts closing. A last picture that is not longer than that
// becomes just longer.
func (s *schedule) split(closing int64) {
	last := &s.samples[len(s.samples)-1]
	last.duration = max(1, last.duration-closing)
	s.end = last.at + last.duration + closing
	s.samples = append(s.samples, sample{at: last.at + last.duration, duration: closing})
}

// learn returns how long the closing sample lasts in a file that was made by s, unless that makes no sense.
func (s schedule) learn(t *track) (closing int64, ok bool) {
	closing = t.end - s.samples[len(s.samples)-1].at
	return closing, closing >= 0 && closing <= maxClosing
}

// times returns when each picture begins.
func (s schedule) times() []time.Duration {
	out := make([]time.Duration, s.pictures)
	for i := range out {
		out[i] = time.Duration(s.samples[i].at) * tick
	}
	return out
}

func (s schedule) length() time.Duration { return time.Duration(s.end) * tick }
