package doctor

import "strings"

// withNotices turns a good finding into a warning that says what a part of the program warned of while it was examined.
func withNotices(f Finding, said []string) Finding {
	if len(said) > 0 {
		f.Verdict, f.Fact = Warn, f.Fact+", but "+strings.Join(said, "; ")
	}
	return f
}
