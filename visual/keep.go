package visual

import (
	"cmp"
	"slices"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// keeper decides whose block means stay in memory. While everything fits it
// keeps all frames; when the sequence is too long it drops frames equal to the
// one kept before them, then those that differ least from it.
type keeper struct {
	a         *Analysis
	th        grid.Thresholds
	thin      bool
	used      int64
	budget    int64
	kept      []keptFrame
	protected map[int]bool
}

// keptFrame is a kept frame with its changed tiles against the one kept before it.
type keptFrame struct{ index, moved int }

// meansShare is the part of the memory budget given to block means; the rest
// is for distances.
const meansShare = 4

func (k *keeper) init(a *Analysis, read int) {
	k.a, k.th = a, thresholds(a.opts.Noise)
	k.thin = read > a.opts.MaxFrames
	k.budget = a.opts.MemoryBudget / meansShare * (meansShare - 1)
	k.protected = make(map[int]bool)
}

// add keeps or drops the newest reading.
func (k *keeper) add(r *reading) error {
	k.protectFirstChange()
	moved := k.movedTiles(r)
	if k.thin && moved == 0 && !k.isProtected(r.index) {
		return nil
	}
	f := &k.a.frames[r.index]
	f.kept, f.sig = true, r.sig
	if !r.same {
		k.used += int64(len(r.sig))
	}
	k.kept = append(k.kept, keptFrame{r.index, moved})
	if len(k.kept) <= k.a.opts.MaxFrames && k.used <= k.budget {
		return nil
	}
	return k.shrink()
}

// movedTiles counts the tiles that differ from the frame kept before r; a new
// segment counts as entirely different.
func (k *keeper) movedTiles(r *reading) int {
	if len(k.kept) == 0 {
		return len(r.sig)
	}
	last := &k.a.frames[k.kept[len(k.kept)-1].index]
	if last.segment != k.a.frames[r.index].segment {
		return len(r.sig)
	}
	n := 0
	for t := range len(r.sig) / grid.TileBytes {
		if d := grid.DiffTile(last.sig, r.sig, t, &k.th); d.Cells != 0 {
			n++
		}
	}
	return n
}

func (k *keeper) isProtected(i int) bool {
	return k.protected[i] || k.a.isEdge(i) || i == k.a.peak || i == k.a.baseline
}

// protectFirstChange keeps the two frames around the first change after the anchor.
func (k *keeper) protectFirstChange() {
	if len(k.protected) > 0 || len(k.a.changes) == 0 {
		return
	}
	c := &k.a.changes[len(k.a.changes)-1]
	if c.Tiles > 0 && c.End >= k.a.anchor.Time {
		k.protected[c.to] = true
	}
}

// shrink drops about an eighth of the kept frames, those that moved least.
func (k *keeper) shrink() error {
	if k.a.opts.Sampling == Exhaustive {
		return &LimitError{Subject: "memory_bytes", Value: k.used, Limit: k.budget}
	}
	k.thin = true
	order := slices.Clone(k.kept)
	order = slices.DeleteFunc(order, func(f keptFrame) bool { return k.isProtected(f.index) })
	slices.SortFunc(order, func(a, b keptFrame) int {
		return cmp.Or(cmp.Compare(a.moved, b.moved), cmp.Compare(a.index, b.index))
	})
	if len(order) == 0 {
		return &LimitError{Subject: "memory_bytes", Value: k.used, Limit: k.budget}
	}
	for _, f := range order[:(len(order)+7)/8] {
		k.drop(f.index)
	}
	k.kept = slices.DeleteFunc(k.kept, func(f keptFrame) bool { return !k.a.frames[f.index].kept })
	k.recount()
	return nil
}

func (k *keeper) drop(i int) {
	k.a.frames[i].kept, k.a.frames[i].sig = false, nil
}

// recount sums the distinct block means in memory; equal frames share theirs.
func (k *keeper) recount() {
	k.used = 0
	var last []byte
	for _, f := range k.kept {
		sig := k.a.frames[f.index].sig
		if len(last) == 0 || &last[0] != &sig[0] {
			k.used += int64(len(sig))
		}
		last = sig
	}
}
