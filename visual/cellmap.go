package visual

import "time"

// CellMap is the raw evidence behind a difference map: the history of every
// 4x4-pixel cell of one epoch.
type CellMap struct {
	// Width and Height count cells; a cell covers image pixels [4x, 4x+4).
	Width, Height int

	e      *epochData
	origin time.Duration
}

// CellHistory says how one cell changed.
type CellHistory struct {
	Changes int // steps in which it changed, at most 65535
	Bursts  int // runs of change more than 100 ms apart, at most 255
	// First and Last are the times of the frames that first and last differed,
	// to the millisecond. Both are 0 when Changes is 0.
	First, Last time.Duration
}

// Cells returns the cell map of an epoch; 0 means the one that holds the baseline.
func (a *Analysis) Cells(epoch int) (*CellMap, error) {
	e, err := a.epochFor(epoch)
	if err != nil {
		return nil, err
	}
	return &CellMap{Width: e.geo.InsideX(), Height: e.geo.InsideY(), e: e, origin: a.rng.Start}, nil
}

// At returns the history of the cell in column x, row y. It panics outside the map.
func (m *CellMap) At(x, y int) CellHistory {
	if x < 0 || y < 0 || x >= m.Width || y >= m.Height {
		panic("visual: cell outside the map")
	}
	h := m.e.acc.at(&m.e.geo, x, y)
	if h == nil {
		return CellHistory{}
	}
	return CellHistory{
		Changes: int(h.count), Bursts: int(h.bursts),
		First: m.origin + msDuration(uint64(h.first)), Last: m.origin + msDuration(uint64(h.last)),
	}
}
