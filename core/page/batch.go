package page

import (
	"encoding/json"

	"github.com/krometrail/krometrail/core/fault"
)

// MaxSteps bounds a batch.
const MaxSteps = 64

// BatchRequest runs steps in order.
type BatchRequest struct {
	Scope
	Steps           []Step `json:"steps" min:"1" max:"64"`
	OnFailure       string `json:"on_failure,omitempty" enum:"stop,continue" default:"stop"`
	StepScreenshots bool   `json:"step_screenshots,omitempty" default:"false"`
	TimeoutMS       int    `json:"timeout_ms,omitempty" min:"1" max:"120000" default:"25000"`
}

// Step is one operation of a batch with the arguments of its tool.
type Step struct {
	Tool      string          `json:"tool" maxlen:"64"`
	Arguments json.RawMessage `json:"arguments,omitempty" type:"object"`
}

// Validate fills in defaults and checks. Whether a step's tool exists and takes its arguments is the
// executor's matter.
func (r *BatchRequest) Validate() error {
	if len(r.Steps) < 1 || len(r.Steps) > MaxSteps {
		return fault.Input("steps", "give 1 to 64")
	}
	for i, s := range r.Steps {
		if s.Tool == "" {
			return fault.Input(index("steps", i)+".tool", "must not be empty")
		}
		if s.Tool == "batch" {
			return fault.Input(index("steps", i)+".tool", "a batch cannot hold a batch")
		}
	}
	return first(oneOf(&r.OnFailure, "on_failure", "stop", "continue"), within(&r.TimeoutMS, "timeout_ms", 1, 120000, 25000))
}
