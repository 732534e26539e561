package visual

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/visual/internal/grid"
	"github.com/krometrail/krometrail/visual/internal/pick"
)

const (
	// stateThreshold is the level difference that tells two states of a cell
	// apart; higher than the noise level, so that states compare stably.
	stateThreshold = 16
	// maxDistanceTiles bounds the tiles of a region that are compared; larger
	// regions are sampled by a fixed stride.
	maxDistanceTiles = 800
	// A region above splitTiles is also compared block by block, so that a
	// short event inside a large motion is seen; blockTiles is a block's edge.
	splitTiles = 64
	blockTiles = 8
)

// finish derives regions and distances once every frame was read.
func (a *Analysis) finish(ctx context.Context) error {
	own := len(a.frames) - a.firstOwn
	a.sampling = SamplingCounts{Mode: a.opts.Sampling, Source: own}
	for _, f := range a.frames[a.firstOwn:] {
		if f.read {
			a.sampling.Analyzed++
		}
		if f.kept {
			a.sampling.Kept++
		}
	}
	a.sampling.Omitted = own - a.sampling.Analyzed
	a.findRegions()
	jobs := a.layoutInputs()
	return a.measureDistances(ctx, jobs)
}

// distanceJob fills one matrix.
type distanceJob struct {
	sigs  []grid.Signature // one per state
	tiles []int32
	out   *pick.Matrix
}

// layoutInputs prepares one selection input per segment with empty matrices.
func (a *Analysis) layoutInputs() []distanceJob {
	var jobs []distanceJob
	a.input = make([]pick.Input, len(a.segments))
	for s := range a.input {
		in := &a.input[s]
		var states []int32
		var sigs []grid.Signature
		for i := range a.frames {
			f := &a.frames[i]
			if !f.kept || f.segment != s {
				continue
			}
			if len(sigs) == 0 || &sigs[len(sigs)-1][0] != &f.sig[0] {
				sigs = append(sigs, f.sig)
			}
			states = append(states, int32(len(sigs)-1))
			in.Frames = append(in.Frames, i)
			in.Times = append(in.Times, f.Time.Microseconds())
		}
		for _, r := range a.regions {
			if r.Epoch != a.segments[s].Epoch {
				continue
			}
			for _, part := range a.epochs[r.Epoch-1].parts(r.tiles) {
				m := pick.NewMatrix(states, len(sigs))
				in.Regions = append(in.Regions, pick.Region{Root: r.Number, Local: part.local, D: m})
				jobs = append(jobs, distanceJob{sigs, part.tiles, m})
			}
		}
	}
	return jobs
}

type regionPart struct {
	tiles []int32
	local bool
}

// parts is the region itself, sampled when large, followed by its local blocks.
func (e *epochData) parts(tiles []int32) []regionPart {
	stride := (len(tiles) + maxDistanceTiles - 1) / maxDistanceTiles
	root := regionPart{}
	for i := 0; i < len(tiles); i += stride {
		root.tiles = append(root.tiles, tiles[i])
	}
	out := []regionPart{root}
	if len(tiles) <= splitTiles {
		return out
	}
	across := (e.geo.TilesX + blockTiles - 1) / blockTiles
	down := (e.geo.TilesY + blockTiles - 1) / blockTiles
	blocks := make([][]int32, across*down)
	for _, t := range tiles {
		b := int(t)/e.geo.TilesX/blockTiles*across + int(t)%e.geo.TilesX/blockTiles
		blocks[b] = append(blocks[b], t)
	}
	for _, b := range blocks {
		if len(b) > 0 {
			out = append(out, regionPart{b, true})
		}
	}
	return out
}

// measureDistances fills all matrices; each is written by one goroutine.
func (a *Analysis) measureDistances(ctx context.Context, jobs []distanceJob) error {
	next := make(chan *distanceJob)
	var wg sync.WaitGroup
	for range min(a.opts.Workers, max(1, len(jobs))) {
		wg.Go(func() {
			for j := range next {
				j.fill(ctx)
			}
		})
	}
	for i := range jobs {
		next <- &jobs[i]
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

func (j *distanceJob) fill(ctx context.Context) {
	for a := range j.sigs {
		if ctx.Err() != nil {
			return
		}
		for b := a + 1; b < len(j.sigs); b++ {
			j.out.Set(a, b, grid.Distance(j.sigs[a], j.sigs[b], j.tiles, stateThreshold))
		}
	}
}
