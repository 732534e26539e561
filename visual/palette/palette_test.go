package palette

import "testing"

func luma(c [3]uint8) int { return 299*int(c[0]) + 587*int(c[1]) + 114*int(c[2]) }

// TestLightnessRises: order must survive grey printing.
func TestLightnessRises(t *testing.T) {
	for name, s := range map[string]*Scale{"viridis": Viridis(), "cividis": Cividis(), "grey": Grey()} {
		for i := 4; i < 256; i++ {
			if luma(s[i]) <= luma(s[i-4]) {
				t.Errorf("%s: step %d is not lighter than step %d", name, i, i-4)
			}
		}
	}
	if Viridis()[0] != [3]uint8{68, 1, 84} || Viridis()[255] != [3]uint8{253, 231, 37} {
		t.Error("viridis does not end where it should")
	}
}
