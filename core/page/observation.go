package page

import (
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Observation is the current state of a page, taken after an action or on request. Absent parts were not
// observed; Warnings say why.
type Observation struct {
	Page       PageState      `json:"page"`
	Navigation *NavigationRef `json:"navigation,omitempty"`
	// Focus is the reference of the focused target.
	Focus  string          `json:"focus,omitempty"`
	Dialog *Dialog         `json:"dialog,omitempty"`
	Shot   *Screenshot     `json:"screenshot,omitempty"`
	Tree   *Snapshot       `json:"snapshot,omitempty"`
	Same   *Unchanged      `json:"unchanged,omitempty"`
	Says   []Semantic      `json:"semantic_outcomes,omitempty"`
	Post   *Postconditions `json:"postconditions,omitempty"`

	// Picture is the screenshot as an answer's picture, nil when none was taken.
	Picture  *evidence.Picture `json:"-"`
	Warnings []*fault.Error    `json:"-"`
	// Incomplete is set when a part that belongs to the observation could not be had; it makes the answer degraded.
	Incomplete *fault.Error `json:"-"`
}

// PageState identifies what a page shows. URL is live: whole, bounded, without credentials, never stored.
type PageState struct {
	TargetID id.Target `json:"target_id"`
	URL      string    `json:"url"`
	Title    string    `json:"title"`
}

// NavigationRef is a navigation as an answer shows it.
type NavigationRef struct {
	ID    id.Navigation `json:"nav_id"`
	URL   string        `json:"url"`
	State string        `json:"state"`
}

// Dialog is an open JavaScript dialog.
type Dialog struct {
	// Type is alert, confirm, prompt or beforeunload.
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
}

// Screenshot describes a picture of the page.
type Screenshot struct {
	URI    string `json:"resource,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// CSSPerPixel is how many CSS pixels one picture pixel stands for.
	CSSPerPixel float64 `json:"css_per_pixel"`
	// Marker is compositor_rendezvous_unobserved when the picture is not confirmed settled.
	Marker string `json:"marker,omitempty"`
}

// Unchanged stands for a snapshot that equals the one before.
type Unchanged struct {
	Generation  uint64 `json:"generation"`
	Unchanged   bool   `json:"unchanged"`
	TargetCount int    `json:"target_count"`
	// Omitted counts the targets that a concise answer would leave out.
	Omitted int `json:"omitted"`
}

// Semantic is one alert, dialog, status message or named text of the present page.
type Semantic struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Postconditions are observed differences between before and after an action. Absent means not observed.
type Postconditions struct {
	Navigation   *NavigationRef `json:"navigation,omitempty"`
	TargetState  *TargetState   `json:"target_state,omitempty"`
	NodeReplaced *bool          `json:"node_replaced,omitempty"`
	NewPages     []NewPage      `json:"new_pages,omitempty"`
	Pages        *CursorBefore  `json:"pages,omitempty"`
	Downloads    *Downloads     `json:"downloads,omitempty"`
	Clipboard    *Clipboard     `json:"clipboard,omitempty"`
	// Expectation is at most one cautious note about a common expectation that observably did not hold.
	Expectation string `json:"expectation,omitempty"`
}

// TargetState is the state of the acted-on element afterwards; nil fields do not apply.
type TargetState struct {
	Checked     *string `json:"checked,omitempty"`
	Expanded    *bool   `json:"expanded,omitempty"`
	Selected    *bool   `json:"selected,omitempty"`
	Pressed     *string `json:"pressed,omitempty"`
	ValueLength *int    `json:"value_length,omitempty"`
}

// NewPage is a page that appeared during an action.
type NewPage struct {
	TargetID id.Target `json:"target_id"`
	Opener   id.Target `json:"opener,omitempty"`
	URL      string    `json:"url,omitempty"`
}

// CursorBefore anchors a wait for things that appear after the action began.
type CursorBefore struct {
	CursorBefore string `json:"cursor_before"`
}

// Downloads says which downloads began during an action.
type Downloads struct {
	CursorBefore string        `json:"cursor_before"`
	Started      []id.Download `json:"started,omitempty"`
}

// Clipboard says whether a write was confirmed.
type Clipboard struct {
	Confirmed bool `json:"confirmed"`
}
