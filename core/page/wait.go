package page

import (
	"strings"

	"github.com/krometrail/krometrail/core/fault"
)

// WaitRequest waits for one condition.
type WaitRequest struct {
	Scope
	ElapsedMS      int    `json:"elapsed_ms,omitempty" min:"1" max:"120000"`
	Text           string `json:"text,omitempty" doc:"this text is rendered" maxlen:"1024"`
	Query          string `json:"query,omitempty" doc:"this matches, actionable or not" maxlen:"1024"`
	Ref            string `json:"ref,omitempty" doc:"with state, or with text: within it"`
	CSS            string `json:"css,omitempty" maxlen:"1024"`
	State          string `json:"state,omitempty" enum:"attached,visible,hidden,enabled,disabled,editable,checked,unchecked"`
	Navigation     string `json:"navigation,omitempty" enum:"loading,interactive,complete"`
	URL            string `json:"url,omitempty" maxlen:"4096"`
	URLMatch       string `json:"url_match,omitempty" enum:"exact,prefix" default:"exact"`
	Expression     string `json:"expression,omitempty" doc:"truthy script" maxlen:"65536"`
	NetworkQuietMS int    `json:"network_quiet_ms,omitempty" min:"1" max:"30000"`
	Absent         bool   `json:"absent,omitempty" doc:"text or query is gone" default:"false"`
	Exact          bool   `json:"exact,omitempty" doc:"whole text, not a part" default:"false"`
	CaseSensitive  bool   `json:"case_sensitive,omitempty" default:"false"`
	TimeoutMS      int    `json:"timeout_ms,omitempty" min:"1" max:"120000" default:"25000"`
	PollMS         int    `json:"poll_ms,omitempty" min:"10" max:"5000" default:"100"`
}

// The kinds of wait conditions.
const (
	WaitElapsed    = "elapsed_ms"
	WaitText       = "text"
	WaitQuery      = "query"
	WaitState      = "state"
	WaitNavigation = "navigation"
	WaitExpression = "expression"
	WaitNetwork    = "network_quiet_ms"
)

// PageRefs implements capability.PageScoped.
func (r *WaitRequest) PageRefs() []string {
	return append(Element{Ref: r.Ref}.Refs(), Element{Query: r.Query}.Refs()...)
}

// Condition names the condition: one of the Wait constants, "" when none or several are given.
func (r *WaitRequest) Condition() string {
	if named := r.conditions(); len(named) == 1 {
		return named[0]
	}
	return ""
}

func (r *WaitRequest) conditions() []string {
	var named []string
	add := func(has bool, name string) {
		if has {
			named = append(named, name)
		}
	}
	add(r.ElapsedMS != 0, WaitElapsed)
	add(r.Text != "", WaitText)
	add(r.Query != "", WaitQuery)
	add(r.State != "" || (r.Text == "" && (r.Ref != "" || r.CSS != "")), WaitState)
	add(r.Navigation != "" || r.URL != "", WaitNavigation)
	add(r.Expression != "", WaitExpression)
	add(r.NetworkQuietMS != 0, WaitNetwork)
	return named
}

// Validate fills in defaults and checks.
func (r *WaitRequest) Validate() error {
	switch named := r.conditions(); len(named) {
	case 0:
		return fault.Input("elapsed_ms", "give exactly one condition: elapsed_ms, text, query, ref or css with state, navigation, expression, or network_quiet_ms")
	case 1:
	default:
		return fault.Input(named[1], "give exactly one condition; given were "+strings.Join(named, " and "))
	}
	return first(r.checkCondition(), r.checkModifiers(),
		within(&r.TimeoutMS, "timeout_ms", 1, 120000, 25000), within(&r.PollMS, "poll_ms", 10, 5000, 100))
}

func (r *WaitRequest) checkCondition() error {
	switch r.Condition() {
	case WaitElapsed:
		return bounded(r.ElapsedMS, "elapsed_ms", 1, 120000)
	case WaitNetwork:
		return bounded(r.NetworkQuietMS, "network_quiet_ms", 1, 30000)
	case WaitQuery:
		return Element{Query: r.Query}.checkText("")
	case WaitState:
		if err := (Element{Ref: r.Ref, CSS: r.CSS}).check("", false); err != nil {
			return err
		}
		return oneOf(&r.State, "state", "attached", "visible", "hidden", "enabled", "disabled", "editable", "checked", "unchecked")
	case WaitText:
		return Element{Ref: r.Ref, CSS: r.CSS}.check("", true)
	case WaitNavigation:
		if r.Navigation == "" {
			r.Navigation = "complete"
		}
		return first(oneOf(&r.Navigation, "navigation", "loading", "interactive", "complete"), oneOf(&r.URLMatch, "url_match", "exact", "prefix"))
	}
	return nil
}

func (r *WaitRequest) checkModifiers() error {
	kind := r.Condition()
	switch {
	case r.Absent && kind != WaitText && kind != WaitQuery:
		return fault.Input("absent", "only text and query take it")
	case (r.Exact || r.CaseSensitive) && kind != WaitText:
		return fault.Input("exact", "exact and case_sensitive go with text")
	case r.URLMatch != "" && kind != WaitNavigation:
		return fault.Input("url_match", "goes with url")
	case kind != WaitState && kind != WaitText && (r.Ref != "" || r.CSS != ""):
		return fault.Input("ref", "ref and css go with state or text")
	}
	return nil
}

// WaitResult is the condition and what the last probe showed.
type WaitResult struct {
	Condition string `json:"condition"`
	// Outcome is satisfied or timed_out.
	Outcome   string `json:"outcome"`
	WaitedMS  int64  `json:"waited_ms"`
	Probes    int    `json:"probes"`
	LastProbe *Probe `json:"last_probe,omitempty"`
}

// Probe is one look at the condition; only the fields of its kind are set. It never holds a reference.
type Probe struct {
	// QueryOutcome and Matches belong to query; Matches to text too.
	QueryOutcome string `json:"query_outcome,omitempty"`
	Matches      *int   `json:"matches,omitempty"`
	// States are the element's, or missing.
	States []string `json:"states,omitempty"`
	// ReadyState and URLMatched belong to navigation.
	ReadyState string `json:"ready_state,omitempty"`
	URLMatched *bool  `json:"url_matched,omitempty"`
	Truthy     *bool  `json:"truthy,omitempty"`
	// InFlight and QuietMS belong to network_quiet_ms.
	InFlight *int   `json:"in_flight,omitempty"`
	QuietMS  *int64 `json:"quiet_ms,omitempty"`
	// Failure is a transient reason why the probe could not see.
	Failure string `json:"failure,omitempty"`
}
