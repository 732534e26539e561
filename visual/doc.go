// Package visual turns a sequence of user-interface frames into still pictures
// that a person or a model can read.
//
// It knows images and time, nothing else. Frames come from a [FrameSource]: an
// id, a time and JPEG, PNG or decoded pixels each. [Analyze] reads them once and
// every picture is drawn from its result:
//
//	a, err := visual.Analyze(ctx, visual.Sequence{
//		Source: visual.Slice(frames),
//		Anchor: visual.At(clicked, "click"),
//	}, visual.Options{})
//	…
//	story, err := a.Storyboard(ctx, visual.StoryboardOptions{})
//	…
//	out, err := story.Encode(file)
//
// [WriteStoryboard] and [WriteDifferenceMap] do all of that in one call, and
// [Diff] compares two images.
//
// # What a picture means
//
// Source frames are authoritative. Every picture is derived from them by a
// deterministic method: frames are selected, cropped, scaled, combined and
// coloured, never interpolated. Its [Manifest] names the frames, counts what
// was left out, and repeats every label drawn. Wording observes (changed,
// returned, candidate); it does not diagnose.
//
// A [Gap] is time without evidence. No distance, step or return is measured
// across one, and it is drawn, not skipped. Frames of different size belong to
// different epochs and are never compared or stretched onto each other.
//
// # How change is measured
//
// A frame is reduced to means of 4x4 pixels in luma and 8x8 pixels in colour
// difference. For baseline JPEG they are computed from the coefficients, without
// decoding pixels (package jpegmean). Two frames differ where means differ by
// more than [Noise] allows; whole 16x16 tiles below the level of encoder noise
// are ignored. Means hide a change of single pixels by a few levels;
// Noise.Exact compares every pixel instead.
//
// All arithmetic is on integers: equal frames and options give equal pixels on
// every platform, whatever the number of workers.
package visual

//go:generate go run ./internal/readme
