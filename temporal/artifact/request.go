package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/visual"
)

// Request says which pictures of a sequence are wanted.
type Request struct {
	Sequence sequence.Sequence
	// Kinds of package evidence, in the order in which they are wanted.
	Kinds []string
	// Epochs are the indexes of the sequence's epochs to show.
	Epochs     []int
	Tiles      int
	Exact      bool
	Exhaustive bool
	JPEG       bool
	Markers    []evidence.MarkerSpec
	// Region and Mask limit the analysis.
	Region   *visual.Region
	Mask     *visual.Mask
	MaskHash string
	// Strip is the region and the options of a region filmstrip.
	Strip        visual.Region
	StripOptions visual.FilmstripOptions
}

// epochSequence is one epoch's frames with the baseline that belongs to it.
type epochSequence struct {
	index   int
	frames  []record.Frame
	carryIn *record.Frame
}

func (r Request) epoch(index int) epochSequence {
	e := epochSequence{index: index}
	if index == 0 {
		e.carryIn = r.Sequence.CarryIn
	}
	if index < len(r.Sequence.Epochs) {
		bounds := r.Sequence.Epochs[index]
		e.frames = r.Sequence.Frames[bounds.First : bounds.Last+1]
	}
	return e
}

// all are the frames in time order, the baseline first.
func (e epochSequence) all() []record.Frame {
	if e.carryIn == nil {
		return e.frames
	}
	return append([]record.Frame{*e.carryIn}, e.frames...)
}

// sources are the identities of everything that the pictures are made from.
func (e epochSequence) sources() []id.Frame {
	var ids []id.Frame
	for _, f := range e.all() {
		ids = append(ids, f.ID)
	}
	return ids
}

// identity is everything that determines an analysis and the pictures drawn from it.
type identity struct {
	Version    string
	Session    id.Session
	Target     id.Target
	Start, End clock.SessionTime
	Anchor     *clock.SessionTime
	Label      string
	Epoch      int
	Frames     []id.Frame
	CarryIn    bool
	Gaps       []record.Gap
	Markers    []record.Marker
	Extra      []evidence.MarkerSpec
	Observers  []record.Observer
	Exact      bool
	Exhaustive bool
	Region     *visual.Region
	Mask       string
}

func (r Request) identity(e epochSequence) identity {
	rng := r.Sequence.Range
	return identity{
		Version: visual.Version, Session: rng.SessionID, Target: rng.TargetID, Start: rng.StartNS, End: rng.EndNS,
		Anchor: rng.AnchorNS, Label: anchorLabel(r.Sequence), Epoch: e.index, Frames: e.sources(), CarryIn: e.carryIn != nil,
		Gaps: r.Sequence.Facts.Gaps, Markers: r.Sequence.Facts.Markers, Extra: r.Markers, Observers: r.Sequence.Facts.Observers,
		Exact: r.Exact, Exhaustive: r.Exhaustive, Region: r.Region, Mask: r.MaskHash,
	}
}

// Identity names everything that an analysis of an epoch depends on, with the frames it is made from.
func (r Request) Identity(epoch int) (key string, sources []id.Frame) {
	e := r.epoch(epoch)
	return r.analysisKey(e), e.sources()
}

// analysisKey names an analysis; pictureKey one picture drawn from it.
func (r Request) analysisKey(e epochSequence) string { return Digest(r.identity(e)) }

func (r Request) pictureKey(analysis, kind string) string {
	return Digest(struct {
		Analysis, Kind string
		Tiles          int
		JPEG           bool
		Strip          visual.Region
		Options        visual.FilmstripOptions
	}{analysis, kind, r.Tiles, r.JPEG, r.Strip, r.StripOptions})
}

// Digest hashes a value's JSON form, which must exist: keys are made of plain fields.
func Digest(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("artifact: identity does not encode: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
