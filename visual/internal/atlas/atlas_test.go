package atlas

import (
	"image"
	"image/color"
	"testing"
)

func TestFit(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	f := s.Regular
	for _, c := range []struct {
		in    string
		chars int
		want  string
	}{
		{"abcdefgh", 8, "abcdefgh"}, {"abcdefgh", 7, "abc…fgh"}, {"abcdefgh", 4, "ab…h"},
		{"äöüäöü", 5, "äö…öü"}, {"abc", 2, "ab"}, {"abc", 0, ""},
	} {
		if got := f.Fit(c.in, c.chars*f.Advance); got != c.want {
			t.Errorf("%q in %d: got %q, want %q", c.in, c.chars, got, c.want)
		}
	}
}

func TestDraw(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	white := color.RGBA{255, 255, 255, 255}
	draw := func(text string) string {
		img := image.NewRGBA(image.Rect(0, 0, 40, 25))
		if x := s.Title.Draw(img, -3, 0, text, white); x != -3+s.Title.Width(text) {
			t.Errorf("%q ends at %d", text, x)
		}
		return string(img.Pix)
	}
	if draw("語") != draw("?") {
		t.Error("a missing glyph is not '?'")
	}
	if draw("\n") != draw(" ") || draw("a") == draw(" ") || draw("Ж") == draw("?") {
		t.Error("wrong glyphs")
	}
}
