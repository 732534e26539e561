package artifact

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/visual"
)

// Generate makes or finds every requested picture. Each outcome stands for itself; the error is about the
// request as a whole. Warnings are those of publication.
func (s *Service) Generate(ctx context.Context, r Request) ([]evidence.ArtifactOutcome, []*fault.Error, error) {
	if n := len(r.Kinds) * len(r.Epochs); n > MaxOutputs {
		return nil, nil, fault.New(fault.ResourceLimitExceeded, "the request makes %d pictures, at most %d are made at once", n, MaxOutputs).
			WithLimit("pictures", int64(n), MaxOutputs, int64(MaxOutputs/len(r.Kinds)*len(r.Kinds))).
			WithRecovery("ask for fewer kinds, for a shorter range or with epochs=anchor")
	}
	ctx, leave, err := s.admit(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	var outcomes []evidence.ArtifactOutcome
	var warnings []*fault.Error
	for _, index := range r.Epochs {
		made, warned := s.epoch(ctx, r, r.epoch(index))
		outcomes, warnings = append(outcomes, made...), append(warnings, warned...)
	}
	return outcomes, warnings, nil
}

// epoch makes the pictures of one epoch, alone on its analysis.
func (s *Service) epoch(ctx context.Context, r Request, e epochSequence) ([]evidence.ArtifactOutcome, []*fault.Error) {
	var outcomes []evidence.ArtifactOutcome
	var warnings []*fault.Error
	key := r.analysisKey(e)
	leave, err := s.jobs.Enter(ctx, key)
	if err == nil {
		defer leave()
	} else {
		err = overdue(ctx)
	}
	for _, kind := range r.Kinds {
		out := evidence.ArtifactOutcome{Kind: kind, Epoch: e.index}
		var warned []*fault.Error
		if err == nil {
			warned = s.picture(ctx, r, e, key, &out)
		} else {
			out.Status, out.Error = "unavailable", fault.From(err)
		}
		outcomes, warnings = append(outcomes, out), append(warnings, warned...)
	}
	return outcomes, warnings
}

// picture finds or makes one picture.
func (s *Service) picture(ctx context.Context, r Request, e epochSequence, analysisKey string, out *evidence.ArtifactOutcome) []*fault.Error {
	key := r.pictureKey(analysisKey, out.Kind)
	if found, raw, ok := s.find(ctx, key); ok {
		s.made.add(key)
		describe(out, found, raw, "hit")
		return nil
	}
	published, manifest, warnings, err := s.make(ctx, r, e, analysisKey, key, out.Kind)
	if err != nil {
		out.Status, out.Error = "unavailable", fault.From(err).About(fault.Context{
			SessionID: r.Sequence.Range.SessionID, TargetID: r.Sequence.Range.TargetID,
		})
		return warnings
	}
	describe(out, published, manifest, s.made.word(key))
	s.made.add(key)
	return warnings
}

// find returns a published picture with its manifest. One whose manifest cannot be read is made again.
func (s *Service) find(ctx context.Context, key string) (record.Artifact, []byte, bool) {
	found, ok, err := s.store.FindArtifact(ctx, key)
	if err != nil || !ok {
		return found, nil, false
	}
	raw, err := s.store.ReadManifest(ctx, found.ID)
	if err != nil {
		s.made.add(key)
		return found, nil, false
	}
	return found, raw, true
}

// drawing is a picture with the analysis it was drawn from.
type drawing struct {
	analysis *visual.Analysis
	picture  *visual.Artifact
	file     bytes.Buffer
}

// make draws, encodes and publishes.
func (s *Service) make(ctx context.Context, r Request, e epochSequence, analysisKey, key, kind string) (record.Artifact, []byte, []*fault.Error, error) {
	made, err := s.drawn(ctx, r, e, analysisKey, kind)
	if err != nil {
		return record.Artifact{}, nil, nil, err
	}
	output := made.picture.Manifest.Output
	a := record.Artifact{
		ID: id.New[id.Artifact](), SessionID: r.Sequence.Range.SessionID, TargetID: r.Sequence.Range.TargetID, Kind: kind,
		MediaType: "image/" + string(output.Format), Width: output.Width, Height: output.Height, Bytes: output.Bytes, SHA256: output.SHA256,
		CacheKey: key, StartNS: r.Sequence.Range.StartNS, EndNS: r.Sequence.Range.EndNS, Sources: e.sources(), CreatedAt: s.clock.Wall(),
	}
	manifest, err := s.manifest(ctx, r, e, a, made)
	if err != nil {
		return record.Artifact{}, nil, nil, err
	}
	published, warnings, err := s.store.PublishArtifact(ctx, a, &made.file, manifest)
	return published, manifest, warnings, err
}

// drawn draws and encodes one picture.
func (s *Service) drawn(ctx context.Context, r Request, e epochSequence, analysisKey, kind string) (*drawing, error) {
	analysis, err := s.analyze(ctx, r, e, analysisKey)
	if err != nil {
		return nil, err
	}
	picture, err := draw(ctx, analysis, r, kind)
	if err != nil {
		return nil, Translate(ctx, err)
	}
	made := &drawing{analysis: analysis, picture: picture}
	format := visual.PNG
	if r.JPEG {
		format = visual.JPEG
	}
	output, err := picture.EncodeAs(&made.file, format)
	if err != nil {
		return nil, Translate(ctx, err)
	}
	if output.Bytes > maxEncoded {
		return nil, fault.New(fault.ResourceLimitExceeded, "the encoded picture has %d bytes, at most %d are kept", output.Bytes, maxEncoded).
			WithLimit("picture_bytes", output.Bytes, maxEncoded, 0).WithRecovery("ask for format=jpeg or fewer tiles")
	}
	picture.Manifest.Output = output
	return made, nil
}

// draw renders one kind.
func draw(ctx context.Context, a *visual.Analysis, r Request, kind string) (*visual.Artifact, error) {
	switch kind {
	case evidence.Storyboard:
		return a.Storyboard(ctx, visual.StoryboardOptions{Tiles: r.Tiles})
	case evidence.DifferenceMap:
		return a.DifferenceMap(ctx, visual.MapOptions{})
	case evidence.MotionHistory:
		return a.MotionHistory(ctx, visual.MapOptions{})
	case evidence.Orientation:
		return a.Orientation(ctx)
	case evidence.Filmstrip:
		return a.Filmstrip(ctx, r.Strip, r.StripOptions)
	}
	return nil, fault.New(fault.Internal, "no artifact is called %s", kind)
}

// describe fills an outcome from what was published.
func describe(out *evidence.ArtifactOutcome, a record.Artifact, manifest []byte, cache string) {
	out.ManifestBytes = int64(len(manifest))
	out.Status, out.Artifact, out.Cache = "available", &a, cache
	out.URI, out.ManifestURI = evidence.ArtifactURI(a), evidence.ManifestURI(a)
	var m Manifest
	if json.Unmarshal(manifest, &m) != nil {
		return
	}
	v := m.Visual
	if v.Sampling.Analyzed < v.Sampling.Source {
		out.Sampling = &evidence.Sampling{Mode: string(v.Sampling.Mode), Analyzed: v.Sampling.Analyzed, Source: v.Sampling.Source}
	}
	if out.Kind == evidence.DifferenceMap || out.Kind == evidence.MotionHistory {
		return // what a map calls tiles are its panels
	}
	for _, t := range v.Tiles {
		tile := evidence.Tile{Number: t.Number, FrameID: id.Frame(t.Frame), OffsetMS: millis(t.Offset)}
		for _, reason := range t.Reasons {
			tile.Reasons = append(tile.Reasons, string(reason))
		}
		out.Tiles = append(out.Tiles, tile)
	}
}
