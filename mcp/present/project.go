package present

import (
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

const (
	// maxSemantics bounds the semantic outcomes of an observation.
	maxSemantics = 8
	// The rows of list_page_assets by detail; full has no bound.
	conciseAssets, expandedAssets = 20, 80
	// maxEvents bounds the compact events of a concise bundle.
	maxEvents = 24
)

// Observation is a live observation at a detail: Snapshot is a projection.
type Observation struct {
	Page       page.PageState       `json:"page"`
	Navigation *page.NavigationRef  `json:"navigation,omitempty"`
	Focus      string               `json:"focus,omitempty"`
	Dialog     *page.Dialog         `json:"dialog,omitempty"`
	Shot       *page.Screenshot     `json:"screenshot,omitempty"`
	Tree       *page.View           `json:"snapshot,omitempty"`
	Same       *page.Unchanged      `json:"unchanged,omitempty"`
	Says       []page.Semantic      `json:"semantic_outcomes,omitempty"`
	Post       *page.Postconditions `json:"postconditions,omitempty"`
}

// Change is the result of a state-changing operation at a detail.
type Change struct {
	*Observation
	Action any `json:"action,omitempty"`
}

// Batch is the result of a batch at a detail.
type Batch struct {
	ID      id.Batch             `json:"batch_id"`
	Outcome string               `json:"outcome"`
	Steps   []control.StepResult `json:"steps"`
	Final   *Observation         `json:"final_observation,omitempty"`
}

// project reduces a result to a detail. Types without tiers stay as they are.
func project(result any, d Detail) any {
	switch r := result.(type) {
	case nil:
		return struct{}{}
	case page.Snapshot:
		return view(r, d)
	case page.Observation:
		return *observation(&r, d)
	case control.Result:
		return Change{Observation: observation(r.Observation, d), Action: projectAction(r.Action, d)}
	case control.BatchResult:
		return batch(r, d)
	case page.Status:
		return status(r, d)
	case page.ListAssetsResult:
		return assets(r, d)
	case evidence.Bundle:
		return bundle(r, d)
	case evidence.RangeResult:
		return RangeResult{quality(r.Quality, d)}
	}
	return result
}

func projectAction(action any, d Detail) any {
	if action == nil {
		return nil
	}
	return project(action, d)
}

func view(s page.Snapshot, d Detail) page.View {
	switch d {
	case Full:
		return s.Full()
	case Expanded:
		return s.Expanded()
	}
	return s.Concise()
}

func observation(o *page.Observation, d Detail) *Observation {
	if o == nil {
		return nil
	}
	shown := &Observation{
		Page: o.Page, Navigation: o.Navigation, Focus: o.Focus, Dialog: o.Dialog, Shot: o.Shot, Same: o.Same,
		Says: o.Says[:min(len(o.Says), maxSemantics)], Post: o.Post,
	}
	if o.Tree != nil {
		v := view(*o.Tree, d)
		shown.Tree = &v
	}
	return shown
}

func batch(b control.BatchResult, d Detail) Batch {
	shown := Batch{ID: b.ID, Outcome: b.Outcome, Steps: make([]control.StepResult, len(b.Steps)), Final: observation(b.Final, d)}
	for i, step := range b.Steps {
		if step.Result != nil {
			step.Result = project(step.Result, d)
		}
		step.Interaction = shownInteraction(step.Interaction, d)
		shown.Steps[i] = step
	}
	return shown
}

// status shows pages from expanded on, and the probe, discovery and histograms at full.
func status(s page.Status, d Detail) page.Status {
	if d == Full {
		return s
	}
	if d == Concise {
		s.Pages = nil
	}
	s.Probe, s.Discovery = nil, nil
	targets := make([]page.CaptureTarget, len(s.Capture.Targets))
	for i, t := range s.Capture.Targets {
		t.Histogram = nil
		targets[i] = t
	}
	s.Capture.Targets = targets
	return s
}

func assets(a page.ListAssetsResult, d Detail) page.ListAssetsResult {
	limit := len(a.Assets)
	switch d {
	case Concise:
		limit = conciseAssets
	case Expanded:
		limit = expandedAssets
	}
	if len(a.Assets) > limit {
		a.PresentationOmitted += len(a.Assets) - limit
		a.Assets = a.Assets[:limit]
	}
	return a
}
