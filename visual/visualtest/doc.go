// Package visualtest makes sequences of user-interface frames whose truth is known, and scores a program
// that picks or marks frames against that truth.
//
// A sequence is a page (header, sidebar, cards of 13 px text, photo-like patches, a quarter of the pages in a
// dark theme) filmed for 60 frames, 16.7 to 18.7 ms apart, each a JPEG of quality 80 with 4:2:0 chroma. Something
// happens on it: one of six defects that last one to three frames, possibly beside a harmless distractor, or one
// of eight controls in which nothing is wrong. The same Spec and Options always give the same bytes with one
// version of Go, whatever the number of workers.
//
//	seq, err := visualtest.Generate(visualtest.Spec{
//		Kind: visualtest.Teleport, Duration: 1, Distractor: visualtest.Panel, Seed: 7,
//	}, visualtest.Options{})
//	...
//	chosen := myChooser(seq.Frames, seq.AnchorTime) // indices of at most eight frames
//	fmt.Println(seq.Hit(chosen), seq.Hit(visualtest.Uniform(len(seq.Frames), 8)))
//
// # Truth and disturbance
//
// Truth is taken from the page as it was drawn. Noise, changing JPEG quality and sub-pixel resampling are added
// afterwards, as a camera or an encoder would add them, so a pair of frames that differs only by such a disturbance
// is an unchanged pair. Raw gives the drawn picture of a frame again instead of keeping all of them in memory.
//
// # Choosing seeds
//
// Timing, place and content depend on the whole Spec, not on the seed alone, so the same seed under two kinds gives
// unrelated sequences. Tune on one set of seeds and report another.
package visualtest
