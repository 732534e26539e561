package visual

import (
	"cmp"
	"image"
	"slices"
	"time"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

const (
	maxRegions = 12
	// regionReach joins changed tiles this many tiles apart.
	regionReach = 2
)

// ChangedRegion is a connected area that changed at least once, numbered over
// the whole analysis in the order of its epoch, then size.
type ChangedRegion struct {
	Number  int             `json:"number"` // from 1; drawn as R1, R2, …
	Epoch   int             `json:"epoch"`
	Bounds  image.Rectangle `json:"bounds"` // image pixels, whole tiles within the frame
	Tiles   int             `json:"tiles"`  // 16x16 tiles that changed
	Changes int             `json:"changes"`
	First   time.Duration   `json:"first_change_ns"`
	Last    time.Duration   `json:"last_change_ns"`
	// Merged counts the separate areas put together in the last region when
	// there are more than fit; 0 for an ordinary region.
	Merged int `json:"merged,omitempty"`

	tiles []int32 // ascending
}

// findRegions computes the regions of every epoch.
func (a *Analysis) findRegions() {
	for i := range a.epochs {
		for _, r := range a.epochs[i].regions() {
			r.Number, r.Epoch = len(a.regions)+1, i+1
			a.regions = append(a.regions, r)
		}
	}
	for i := range a.changes {
		a.attribute(&a.changes[i])
	}
}

// attribute counts a change for each region it touches.
func (a *Analysis) attribute(c *Change) {
	if c.tiles == nil {
		return
	}
	epoch := a.frames[c.to].epoch + 1
	for i := range a.regions {
		r := &a.regions[i]
		if r.Epoch != epoch || !touches(c.tiles, r.tiles) {
			continue
		}
		if r.Changes == 0 {
			r.First = c.End
		}
		r.Changes++
		r.Last = c.End
	}
}

func touches(set []uint64, tiles []int32) bool {
	for _, t := range tiles {
		if set[t>>6]>>(t&63)&1 != 0 {
			return true
		}
	}
	return false
}

func (e *epochData) regions() []ChangedRegion {
	groups := e.components()
	slices.SortStableFunc(groups, func(a, b []int32) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0]))
	})
	var out []ChangedRegion
	for i, tiles := range groups {
		if len(groups) > maxRegions && i == maxRegions-1 {
			rest := slices.Concat(groups[i:]...)
			slices.Sort(rest)
			r := e.region(rest)
			r.Merged = len(groups) - i
			return append(out, r)
		}
		out = append(out, e.region(tiles))
	}
	return out
}

func (e *epochData) region(tiles []int32) ChangedRegion {
	r := ChangedRegion{Tiles: len(tiles), tiles: tiles}
	for _, t := range tiles {
		r.Bounds = r.Bounds.Union(e.tileRect(int(t)))
	}
	return r
}

func (e *epochData) tileRect(t int) image.Rectangle {
	at := image.Pt(t%e.geo.TilesX*grid.TileSize, t/e.geo.TilesX*grid.TileSize)
	return image.Rectangle{Min: at, Max: at.Add(image.Pt(grid.TileSize, grid.TileSize))}.Intersect(e.clip)
}

// components groups the changed tiles; members ascend within a group.
func (e *epochData) components() [][]int32 {
	n := e.geo.Tiles()
	seen := make([]bool, n)
	var groups [][]int32
	for t := range n {
		if e.acc.tiles[t] == nil || seen[t] {
			continue
		}
		seen[t] = true
		group := []int32{int32(t)}
		for i := 0; i < len(group); i++ {
			e.neighbours(int(group[i]), func(u int) {
				if e.acc.tiles[u] != nil && !seen[u] {
					seen[u] = true
					group = append(group, int32(u))
				}
			})
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return groups
}

func (e *epochData) neighbours(t int, fn func(int)) {
	tx, ty := t%e.geo.TilesX, t/e.geo.TilesX
	for y := max(0, ty-regionReach); y <= min(e.geo.TilesY-1, ty+regionReach); y++ {
		for x := max(0, tx-regionReach); x <= min(e.geo.TilesX-1, tx+regionReach); x++ {
			fn(y*e.geo.TilesX + x)
		}
	}
}

// Regions lists the changed regions.
func (a *Analysis) Regions() []ChangedRegion {
	return append([]ChangedRegion(nil), a.regions...)
}
