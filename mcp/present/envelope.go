package present

import (
	"crypto/rand"
	"errors"
	"slices"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Detail is how much of a result is shown.
type Detail string

// The details, from least to most.
const (
	Concise  Detail = "concise"
	Expanded Detail = "expanded"
	Full     Detail = "full"
)

// Envelope is the structured content of every answer.
type Envelope struct {
	Tool        string                     `json:"tool"`
	Status      capability.AnswerStatus    `json:"status"`
	Result      any                        `json:"result"`
	Interaction *capability.InteractionRef `json:"interaction,omitempty"`
	Range       *evidence.ResolvedRange    `json:"range,omitempty"`
	RangeHandle id.RangeHandle             `json:"range_handle,omitempty"`
	Warnings    []*fault.Error             `json:"warnings,omitempty"`
	Images      []Image                    `json:"images,omitempty"`
	Resources   []evidence.Resource        `json:"resources,omitempty"`
	// Notes are facts that are neither result nor warning, Next hints for the next call.
	Notes       []string     `json:"notes,omitempty"`
	Next        []string     `json:"next,omitempty"`
	Error       *fault.Error `json:"error,omitempty"`
	Diagnostics *Diagnostics `json:"diagnostics,omitempty"`
}

// Image describes a picture of the answer.
type Image struct {
	evidence.Picture
	// Inline pictures are content of this answer; the others are read by their identifier.
	Inline bool `json:"inline"`
}

// Diagnostics accompany everything that did not simply succeed.
type Diagnostics struct {
	// CorrelationID joins the answer with the log.
	CorrelationID string `json:"correlation_id"`
	// Stage names the step that failed.
	Stage string `json:"stage"`
	// Cause is the code of the innermost known failure.
	Cause fault.Code `json:"cause,omitempty"`
}

// envelope projects an outcome. Pictures are added by the caller.
func envelope(tool string, out capability.Outcome, d Detail) Envelope {
	e := Envelope{
		Tool: tool, Status: out.Status, Result: project(out.Result, d), Interaction: shownInteraction(out.Interaction, d),
		Range: out.Range, RangeHandle: out.RangeHandle, Warnings: out.Warnings, Resources: out.Resources,
		Notes: out.Notes, Next: slices.Clone(out.Next), Error: out.Err,
	}
	e.Resources = shownResources(e.Result, e.Resources)
	if e.Status == "" {
		e.Status = capability.Succeeded
	}
	if e.Status == capability.Failed && e.Error == nil {
		e.Error = fault.New(fault.Internal, "%s failed without a reason", tool)
	}
	if e.Status != capability.Succeeded {
		e.Diagnostics = diagnose(out)
	}
	return e
}

func diagnose(out capability.Outcome) *Diagnostics {
	d := &Diagnostics{CorrelationID: rand.Text()[:12], Stage: out.Stage}
	if d.Stage == "" {
		d.Stage = "run"
	}
	if out.Err != nil {
		d.Cause = innermost(out.Err)
	}
	return d
}

// innermost follows the causes to the last one that is a fault.
func innermost(f *fault.Error) fault.Code {
	for {
		var cause *fault.Error
		if !errors.As(f.Unwrap(), &cause) {
			return f.Code
		}
		f = cause
	}
}

// shownInteraction leaves the record echo to the higher details.
func shownInteraction(ref *capability.InteractionRef, d Detail) *capability.InteractionRef {
	if ref == nil || d != Concise {
		return ref
	}
	short := *ref
	short.Record = nil
	return &short
}
