package video

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"time"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/visual"
)

// make plans, encodes and publishes.
func (s *Service) make(ctx context.Context, r Request, epoch int, a record.Artifact) (evidence.VideoClip, []*fault.Error, error) {
	analysis, err := s.artifacts.Analyze(ctx, r.Request, epoch)
	if err != nil {
		return evidence.VideoClip{}, nil, err
	}
	plan, err := analysis.Plan(visual.PlanOptions{Policy: r.Policy, MaxDuration: MaxPresentation})
	if err != nil {
		return evidence.VideoClip{}, nil, artifact.Translate(ctx, err)
	}
	unshown := presentable(plan)
	clip, err := s.encode(ctx, r, analysis, plan)
	if err != nil {
		return evidence.VideoClip{}, clip.Warnings, err
	}
	out, warnings, err := s.publish(ctx, r, epoch, a, plan, unshown, clip)
	if discarded := clip.Discard(); err == nil && discarded != nil {
		err = discarded
	}
	return out, append(clip.Warnings, warnings...), err
}

// presentable takes entries out of the plan that are too short to be shown: frames presented at the same instant.
func presentable(p *visual.VideoPlan) (unshown []visual.PlanEntry) {
	kept := make([]visual.PlanEntry, 0, len(p.Entries))
	for _, e := range p.Entries {
		if e.Duration < time.Microsecond {
			unshown = append(unshown, e)
			continue
		}
		kept = append(kept, e)
	}
	p.Entries = kept
	return unshown
}

// encode draws the plan's entries one after the other into one picture.
func (s *Service) encode(ctx context.Context, r Request, analysis *visual.Analysis, plan *visual.VideoPlan) (Clip, error) {
	size := shrink(plan.Canvas, image.Pt(r.Width, r.Height))
	canvas := image.NewRGBA(image.Rectangle{Max: size})
	job := Job{Width: size.X, Height: size.Y, MaxBytes: r.MaxBytes}
	for _, e := range plan.Entries {
		job.Durations = append(job.Durations, e.Duration)
	}
	job.Picture = func(ctx context.Context, i int) (*image.RGBA, error) {
		if err := analysis.DrawEntry(ctx, plan, i, canvas); err != nil {
			return nil, artifact.Translate(ctx, err)
		}
		return canvas, nil
	}
	job.Progress = func(done, total int) { capability.Report(ctx, fmt.Sprintf("encoded %d of %d pictures", done, total)) }
	clip, err := s.encoder.Encode(ctx, job)
	if err != nil {
		return clip, err
	}
	for i := range plan.Entries {
		plan.Entries[i].Start = clip.Times[i]
		end := clip.Length
		if i+1 < len(clip.Times) {
			end = clip.Times[i+1]
		}
		plan.Entries[i].Duration = end - clip.Times[i]
	}
	plan.Total = clip.Length
	return clip, nil
}

// shrink is the largest size with the aspect of size that is not above size or box.
func shrink(size, box image.Point) image.Point {
	w, h := size.X, size.Y
	if w > box.X {
		w, h = box.X, max(1, (size.Y*box.X+size.X/2)/size.X)
	}
	if h > box.Y {
		w, h = max(1, (size.X*box.Y+size.Y/2)/size.Y), box.Y
	}
	return image.Pt(min(w, box.X), min(h, box.Y))
}

func (s *Service) publish(ctx context.Context, r Request, epoch int, a record.Artifact, plan *visual.VideoPlan, unshown []visual.PlanEntry, clip Clip) (out evidence.VideoClip, warnings []*fault.Error, err error) {
	origin, err := s.artifacts.Origin(ctx, r.Request, epoch)
	if err != nil {
		return out, nil, err
	}
	a.MediaType, a.Width, a.Height, a.Bytes, a.SHA256 = clip.MediaType, clip.Width, clip.Height, clip.Bytes, clip.SHA256
	raw, err := json.Marshal(newManifest(origin, a, plan, unshown, clip, s.encoder.Identity()))
	if err != nil {
		return out, nil, fault.From(err)
	}
	file, err := clip.Open()
	if err != nil {
		return out, nil, fault.New(fault.PersistenceFailed, "the finished video cannot be read").WithPersistence("create", "io", "writer_usable").Because(err)
	}
	published, warnings, err := s.store.PublishArtifact(ctx, a, file, raw)
	if err = errors.Join(err, file.Close()); err != nil {
		return out, warnings, err
	}
	return describe(published, raw, "generated"), warnings, nil
}
