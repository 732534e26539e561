package observe

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// restShare keeps probes of large pages from filling the renderer's time: after a probe that took t, at least
// restShare*t passes.
const restShare = 4

// waiting is one wait under way.
type waiting struct {
	*Observer
	session *page.Session
	request core.WaitRequest
	clock   clock.Clock
	result  core.WaitResult
}

// probe looks once. Errors end the wait; what may pass is put into Probe.Failure instead.
type probe func(ctx context.Context) (met bool, p core.Probe, err error)

// Wait waits until the request's condition holds. The result has the last probe also when the wait fails.
func (o *Observer) Wait(ctx context.Context, r core.WaitRequest) (core.WaitResult, error) {
	if err := r.Validate(); err != nil {
		return core.WaitResult{}, err
	}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return core.WaitResult{Condition: r.Condition()}, err
	}
	w := &waiting{Observer: o, session: s, request: r, clock: s.Clock().Clock(), result: core.WaitResult{Condition: r.Condition()}}
	start := w.clock.Mono()
	err = w.run(ctx)
	w.result.WaitedMS = (w.clock.Mono() - start).Milliseconds()
	return w.result, err
}

func (w *waiting) run(ctx context.Context) error {
	if w.request.ElapsedMS > 0 {
		return w.elapse(ctx)
	}
	look, done, err := w.probe(ctx)
	if err != nil {
		return err
	}
	defer done()
	bounded, cancel := clock.WithTimeout(ctx, w.clock, time.Duration(w.request.TimeoutMS)*time.Millisecond)
	defer cancel()
	for {
		began := w.clock.Mono()
		met, p, err := look(bounded)
		if ctx.Err() != nil {
			return cancelled(ctx)
		}
		if bounded.Err() == nil || err == nil {
			w.result.Probes++
			w.result.LastProbe = &p
		}
		switch {
		case err == nil && met:
			w.result.Outcome = "satisfied"
			return nil
		case bounded.Err() != nil:
			return w.timedOut()
		case err != nil:
			return err
		}
		rest := max(time.Duration(w.request.PollMS)*time.Millisecond, restShare*(w.clock.Mono()-began))
		if clock.Wait(bounded, w.clock, rest) != nil {
			if ctx.Err() != nil {
				return cancelled(ctx)
			}
			return w.timedOut()
		}
	}
}

func (w *waiting) elapse(ctx context.Context) error {
	limit := time.Duration(w.request.TimeoutMS) * time.Millisecond
	want := time.Duration(w.request.ElapsedMS) * time.Millisecond
	if clock.Wait(ctx, w.clock, min(want, limit)) != nil {
		return cancelled(ctx)
	}
	if want > limit {
		return w.timedOut()
	}
	w.result.Outcome = "satisfied"
	return nil
}

func (w *waiting) timedOut() error {
	w.result.Outcome = "timed_out"
	return fault.New(fault.WaitTimedOut, "the condition %s did not hold within %d ms", w.result.Condition, w.request.TimeoutMS).
		WithRecovery("snapshot_page shows the page; the last probe says what was seen").About(fault.Context{TargetID: w.session.Target()})
}

func cancelled(ctx context.Context) error {
	f := fault.New(fault.Cancelled, "the wait was cancelled")
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		f = fault.New(fault.Cancelled, "the wait ended with the time of its batch or request")
	}
	return f
}

// probe is the look of the request's condition; done ends what it keeps running.
func (w *waiting) probe(ctx context.Context) (look probe, done func(), err error) {
	done = func() {}
	switch w.request.Condition() {
	case core.WaitText:
		look, err = w.textProbe(ctx)
	case core.WaitQuery:
		look, err = w.queryProbe(w.request.Query)
	case core.WaitState:
		look = w.stateProbe
	case core.WaitNavigation:
		look = w.navigationProbe
	case core.WaitExpression:
		look = w.expressionProbe
	default:
		return w.networkProbe(ctx)
	}
	return w.tolerant(look), done, err
}

// tolerant turns failures that pass by themselves into a failed look.
func (w *waiting) tolerant(look probe) probe {
	return func(ctx context.Context) (bool, core.Probe, error) {
		met, p, err := look(ctx)
		switch code := fault.CodeOf(err); {
		case err == nil:
		case errors.Is(err, snapshot.ErrGone), code == fault.PageObservationFailed, code == fault.NotFound:
			p.Failure, err = "the document was being replaced", nil
		case code == fault.PageUnresponsive:
			p.Failure, err = "the page did not answer", nil
		}
		return met && err == nil && p.Failure == "", p, err
	}
}

func (w *waiting) queryProbe(text string) (probe, error) {
	q, err := core.ParseQuery(text)
	if err != nil {
		return nil, fault.Input("query", err.Error())
	}
	return func(ctx context.Context) (bool, core.Probe, error) {
		n, err := w.present(ctx, q, core.Element{})
		p := core.Probe{Matches: &n, QueryOutcome: outcome(n)}
		return (n == 0) == w.request.Absent, p, err
	}, nil
}

func outcome(n int) string {
	switch n {
	case 0:
		return core.NoMatch
	case 1:
		return core.Unique
	}
	return core.Ambiguous
}

func (w *waiting) present(ctx context.Context, q core.Query, scope core.Element) (int, error) {
	d, err := w.snapshots.Document(ctx, w.session, "")
	if err != nil {
		return 0, err
	}
	if scope.CSS != "" || scope.Ref != "" {
		l, err := w.first(ctx, scope)
		if err != nil || l.Document == nil {
			return 0, err
		}
		q.Within = l.Ref()
	}
	if d, err = w.snapshots.DocumentFor(ctx, d, q); err != nil {
		return 0, err
	}
	n, err := w.snapshots.Present(ctx, d, q)
	if fault.CodeOf(err) == fault.StaleReference && scope.CSS != "" {
		return 0, nil
	}
	return n, err
}

// textProbe looks for rendered text, in the whole main document or within an element.
func (w *waiting) textProbe(context.Context) (probe, error) {
	r := w.request
	value := core.Normalize(r.Text)
	if value == "" {
		return nil, fault.Input("text", "needs visible text")
	}
	q := core.Query{Text: &core.Matcher{Value: value, Contains: !r.Exact, Fold: !r.CaseSensitive}}
	return func(ctx context.Context) (bool, core.Probe, error) {
		n, err := w.present(ctx, q, core.Element{Ref: r.Ref, CSS: r.CSS})
		return (n == 0) == r.Absent, core.Probe{Matches: &n}, err
	}, nil
}

// first is the element of a reference, or the first match of a selector; no document when there is none.
func (w *waiting) first(ctx context.Context, e core.Element) (snapshot.Located, error) {
	if e.Ref != "" {
		return w.snapshots.Locate(ctx, w.session, e)
	}
	d, err := w.snapshots.Document(ctx, w.session, "")
	if err != nil {
		return snapshot.Located{}, err
	}
	var found struct {
		Bad  bool   `json:"bad"`
		Node uint64 `json:"node"`
	}
	if err := d.Call(ctx, &found, "find", e.CSS); err != nil {
		return snapshot.Located{}, err
	}
	if found.Bad {
		return snapshot.Located{}, fault.Input("css", "is no valid selector")
	}
	if found.Node == 0 {
		return snapshot.Located{}, nil
	}
	return snapshot.Located{Document: d, Node: found.Node}, nil
}

type elementState struct {
	Stale    bool   `json:"stale"`
	States   int    `json:"states"`
	Visible  bool   `json:"visible"`
	Disabled bool   `json:"disabled"`
	Editable bool   `json:"editable"`
	Checked  string `json:"checked"`
}

func (w *waiting) stateProbe(ctx context.Context) (bool, core.Probe, error) {
	r := w.request
	l, err := w.first(ctx, core.Element{Ref: r.Ref, CSS: r.CSS})
	var s elementState
	if err == nil && l.Document != nil {
		err = snapshot.Failure(l.Document.Call(ctx, &s, "state", l.Node), l.Document)
	}
	missing := err == nil && (l.Document == nil || s.Stale)
	if r.Ref != "" && (missing || fault.CodeOf(err) == fault.StaleReference) {
		if r.State == "hidden" {
			return true, core.Probe{States: []string{"missing"}}, nil
		}
		return false, core.Probe{States: []string{"missing"}}, snapshot.Stale(w.session.Target())
	}
	if err != nil {
		return false, core.Probe{}, err
	}
	if missing {
		return r.State == "hidden", core.Probe{States: []string{"missing"}}, nil
	}
	return s.is(r.State), core.Probe{States: s.names()}, nil
}

func (s elementState) is(state string) bool {
	switch state {
	case "attached":
		return true
	case "visible":
		return s.Visible
	case "hidden":
		return !s.Visible
	case "enabled":
		return !s.Disabled
	case "disabled":
		return s.Disabled
	case "editable":
		return s.Editable
	case "checked":
		return s.Checked == "true"
	case "unchecked":
		return s.Checked == "false"
	}
	return false
}

func (s elementState) names() []string {
	names := []string{"attached"}
	add := func(is bool, yes, no string) {
		if is {
			names = append(names, yes)
		} else if no != "" {
			names = append(names, no)
		}
	}
	add(s.Visible, "visible", "hidden")
	add(s.Disabled, "disabled", "enabled")
	add(s.Editable, "editable", "")
	add(s.Checked == "true", "checked", "")
	add(s.Checked == "false", "unchecked", "")
	return names
}

var readiness = map[string]int{"loading": 0, "interactive": 1, "complete": 2}

func (w *waiting) navigationProbe(ctx context.Context) (bool, core.Probe, error) {
	d, err := w.snapshots.Document(ctx, w.session, "")
	if err != nil {
		return false, core.Probe{}, err
	}
	var facts struct {
		Ready string `json:"ready"`
		URL   string `json:"url"`
	}
	if err := d.Call(ctx, &facts, "facts"); err != nil {
		return false, core.Probe{}, err
	}
	p := core.Probe{ReadyState: facts.Ready}
	met := readiness[facts.Ready] >= readiness[w.request.Navigation] && !leaving(w.session)
	if w.request.URL != "" {
		matched := facts.URL == w.request.URL || (w.request.URLMatch == "prefix" && strings.HasPrefix(facts.URL, w.request.URL))
		p.URLMatched = &matched
		met = met && matched
	}
	return met, p, nil
}

// expressionProbe runs the agent's expression in the page's own world.
func (w *waiting) expressionProbe(ctx context.Context) (bool, core.Probe, error) {
	world, ok := w.session.MainWorld("")
	if !ok {
		return false, core.Probe{}, snapshot.ErrGone
	}
	end := w.session.Observing("wait")
	defer end()
	var reply struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
		Exception *struct {
			Exception struct {
				ClassName string `json:"className"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := w.session.Send(ctx, "Runtime.evaluate", map[string]any{
		"expression": "(async () => !!(await (" + w.request.Expression + "\n)))()", "contextId": world, "returnByValue": true, "awaitPromise": true,
	}, &reply)
	if err != nil {
		return false, core.Probe{}, snapshot.Vanished(err)
	}
	if reply.Exception != nil {
		if reply.Exception.Exception.ClassName == "SyntaxError" {
			return false, core.Probe{}, fault.New(fault.EvaluationFailed, "the expression is no valid script").WithRecovery("correct the expression")
		}
		return false, core.Probe{Failure: "the expression threw an exception"}, nil
	}
	truthy := reply.Result.Value
	return truthy, core.Probe{Truthy: &truthy}, nil
}
