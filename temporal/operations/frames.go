package operations

import (
	"context"
	"fmt"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

const (
	// maxFetch bounds one fetch_source_frames by frames, maxFrameBytes one frame and maxFetchBytes all of them.
	maxFetch      = 64
	maxFrameBytes = 32 << 20
	maxFetchBytes = 256 << 20
	// shown bounds the pictures of one answer; all frames are resources.
	shown        = 8
	listDefault  = 32
	fetchDefault = 4
)

func (o Operations) listFrames() capability.Op {
	return define[evidence.FramesRequest, evidence.FramesResult](capability.Spec{
		Name: "list_source_frames", Title: "List frames",
		Summary: "Recorded frames of a range in order, with gaps and markers, in pages.",
	}, func(ctx context.Context, r *evidence.FramesRequest) (capability.Outcome, error) {
		out, seq, err := o.sequence(ctx, r.RangeRef)
		if err != nil {
			return out, err
		}
		size := r.MaxFrames
		if size == 0 {
			size = listDefault
		}
		out.Result = framesPage(seq.Frames, r.Offset, size, seq.Facts)
		return out, nil
	})
}

func framesPage(frames []record.Frame, offset, size int, facts record.Facts) evidence.FramesResult {
	from := min(offset, len(frames))
	to := min(from+size, len(frames))
	page := evidence.FramesResult{
		Frames: append([]record.Frame{}, frames[from:to]...), Omitted: len(frames) - (to - from),
		Gaps: append([]record.Gap{}, facts.Gaps...), Markers: append([]record.Marker{}, facts.Markers...),
	}
	if to < len(frames) {
		page.NextOffset = &to
	}
	return page
}

func (o Operations) fetchFrames() capability.Op {
	return define[evidence.FetchRequest, evidence.FetchResult](capability.Spec{
		Name: "fetch_source_frames", Lean: true, Pictures: true, PicturesByDefault: true, Title: "Fetch frames",
		Summary: "Exact recorded frames: frame_ids, or the first of a range. The first is inline, all are resources.",
	}, o.fetch)
}

func (o Operations) fetch(ctx context.Context, r *evidence.FetchRequest) (capability.Outcome, error) {
	out, frames, err := o.wanted(ctx, r)
	if err != nil {
		return out, err
	}
	if err := checkFetch(frames); err != nil {
		out.Stage = "limits"
		return out, err
	}
	for i, f := range frames {
		out.Resources = append(out.Resources, evidence.Resource{
			Role: "source_frame", URI: evidence.FrameURI(f), Name: fmt.Sprintf("frame %s", f.ID), MediaType: "image/" + f.Format, Bytes: f.Bytes,
		})
		if i < shown {
			out.Pictures = append(out.Pictures, o.Artifacts.Frame(f))
		}
	}
	out.Result = evidence.FetchResult{Frames: frames}
	return out, nil
}

// wanted finds the asked frames.
func (o Operations) wanted(ctx context.Context, r *evidence.FetchRequest) (capability.Outcome, []record.Frame, error) {
	if len(r.FrameIDs) == 0 {
		out, seq, err := o.sequence(ctx, r.RangeRef)
		size := r.MaxFrames
		if size == 0 {
			size = fetchDefault
		}
		return out, seq.Frames[:min(size, len(seq.Frames))], err
	}
	if r.RangeRef != (evidence.RangeRef{}) || r.MaxFrames != 0 {
		return capability.Outcome{Stage: "decode"}, nil, fault.Input("frame_ids", "stands alone: leave out the range and max_frames")
	}
	if n := len(r.FrameIDs); n > maxFetch {
		return capability.Outcome{Stage: "limits"}, nil, limit("frames", int64(n), maxFetch, maxFetch)
	}
	var frames []record.Frame
	for _, one := range r.FrameIDs {
		f, err := o.Frames.Frame(ctx, one)
		if err != nil {
			return capability.Outcome{Stage: "read"}, nil, err
		}
		frames = append(frames, f)
	}
	return capability.Outcome{}, frames, nil
}

func checkFetch(frames []record.Frame) error {
	var sum int64
	for i, f := range frames {
		if f.Bytes > maxFrameBytes {
			return limit("frame_bytes", f.Bytes, maxFrameBytes, 0)
		}
		if sum += f.Bytes; sum > maxFetchBytes {
			return limit("bytes", sum, maxFetchBytes, 0).WithRecovery("fetch at most %d of these frames at once", i)
		}
	}
	return nil
}

func limit(subject string, actual, most, try int64) *fault.Error {
	return fault.New(fault.ResourceLimitExceeded, "%s is %d, the limit is %d", subject, actual, most).
		WithLimit(subject, actual, most, try).WithRecovery("ask for less")
}
