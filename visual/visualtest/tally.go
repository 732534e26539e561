package visualtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Tally counts hits over many sequences. The zero value is empty and ready; it is not safe for concurrent use.
type Tally struct{ entries []entry }

type entry struct {
	spec  Spec
	hit   bool
	tiles int
}

// Add counts one sequence for which a chooser used the given number of frames.
func (t *Tally) Add(spec Spec, hit bool, frames int) {
	t.entries = append(t.entries, entry{spec, hit, frames})
}

// Row is a count over the sequences that have Name in common.
type Row struct {
	Name string
	// Hits among Total sequences, and the frames used in all of them.
	Hits, Total, Frames int
}

// Recall returns Hits over Total; 1 for an empty row.
func (r Row) Recall() float64 { return ratio(r.Hits, r.Total) }

// String gives "name hits/total percent frames-per-sequence".
func (r Row) String() string {
	return fmt.Sprintf("%-14s %4d/%-4d %5.1f%% %5.1f frames", r.Name, r.Hits, r.Total, 100*r.Recall(), float64(r.Frames)/float64(max(r.Total, 1)))
}

// Total returns the row over everything.
func (t *Tally) Total() Row {
	rows := t.by(func(Spec) string { return "all" })
	if len(rows) == 0 {
		return Row{Name: "all"}
	}
	return rows[0]
}

// ByKind returns a row for each kind that occurs, by name.
func (t *Tally) ByKind() []Row { return t.by(func(s Spec) string { return string(s.Kind) }) }

// ByDuration returns a row for each duration that occurs, shortest first.
func (t *Tally) ByDuration() []Row {
	return t.by(func(s Spec) string { return fmt.Sprintf("%d frames", s.Duration) })
}

// ByDistractor returns a row for each distractor that occurs, by name.
func (t *Tally) ByDistractor() []Row {
	return t.by(func(s Spec) string { return string(s.Distractor) })
}

func (t *Tally) by(name func(Spec) string) []Row {
	rows := map[string]Row{}
	for _, e := range t.entries {
		r := rows[name(e.spec)]
		r.Name = name(e.spec)
		r.Total++
		r.Frames += e.tiles
		if e.hit {
			r.Hits++
		}
		rows[r.Name] = r
	}
	out := make([]Row, 0, len(rows))
	for _, r := range rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// String gives the total and all rows, one a line.
func (t *Tally) String() string {
	var b strings.Builder
	for _, rows := range [][]Row{{t.Total()}, t.ByKind(), t.ByDuration(), t.ByDistractor()} {
		for _, r := range rows {
			fmt.Fprintln(&b, r)
		}
	}
	return b.String()
}
