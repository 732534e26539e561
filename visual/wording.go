package visual

import (
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"
	"time"
)

// offsetText is a signed time from the anchor: "+201 ms", "-16 ms", "+12.40 s".
func offsetText(d time.Duration) string {
	if d < 0 {
		return "-" + lengthText(-d)
	}
	return "+" + lengthText(d)
}

// lengthText is an unsigned time, rounded to the millisecond, from 10 s on to
// hundredths of a second.
func lengthText(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	}
	cs := d.Round(10*time.Millisecond).Milliseconds() / 10
	return fmt.Sprintf("%d.%02d s", cs/100, cs%100)
}

var reasonWords = map[Reason]string{
	ReasonBefore:      "before",
	ReasonFirstAfter:  "first after",
	ReasonFirstChange: "first change",
	ReasonPeak:        "greatest difference",
	ReasonDuring:      "during",
	ReasonPlaced:      "placed by the caller",
	ReasonFinal:       "last frame",
	ReasonGapEdge:     "beside gap",
	ReasonEpochEdge:   "size changes",
	ReasonMarker:      "marker",
	ReasonReturn:      "return candidate",
	ReasonReturnedTo:  "state returned to",
	ReasonExcursion:   "short state",
	ReasonInformative: "differs most from neighbours",
	ReasonSpread:      "evenly spaced",
}

func reasonText(rs []Reason) string {
	words := make([]string, len(rs))
	for i, r := range rs {
		words[i] = reasonWords[r]
	}
	return strings.Join(words, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func msDuration(ms uint64) time.Duration { return time.Duration(ms) * time.Millisecond }

func sizeText(p image.Point) string { return fmt.Sprintf("%dx%d", p.X, p.Y) }

// medianStep is the lower median of frame distances, or a sixtieth of a second.
func medianStep(steps []int64) time.Duration {
	if len(steps) == 0 {
		return defaultHold
	}
	slices.Sort(steps)
	return time.Duration(steps[(len(steps)-1)/2])
}
