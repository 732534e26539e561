package tracing

import (
	"strconv"

	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
)

// actionOf is the traced form of a request, nil for requests that are not traced.
func actionOf(request any) trace.Action {
	switch r := request.(type) {
	case *page.NavigateRequest:
		return trace.NavigateTo{URL: r.URL, Via: "url"}
	case *page.ReloadRequest:
		return trace.NavigateTo{Via: "reload"}
	case *page.BackRequest:
		return trace.NavigateTo{Via: "back"}
	case *page.ForwardRequest:
		return trace.NavigateTo{Via: "forward"}
	case *page.ClickRequest:
		return trace.Click{Button: r.Button, Count: max(r.Count, 1), Modifiers: r.Modifiers, WaitForNavigation: r.WaitForNavigation, Locator: position(r.Locator)}
	case *page.FillRequest:
		return trace.TypeText{Text: r.Value, Via: "fill", Mode: r.Mode, Locator: named(r.Element)}
	case *page.TypeRequest:
		return trace.TypeText{Text: r.Text, Via: "type_text", Mode: "append", Locator: named(r.Element)}
	case *page.SelectRequest:
		return selection(r)
	case *page.ScrollRequest:
		if to := r.To(); !to.Empty() {
			return trace.Scroll{ToElement: true, Locator: named(to)}
		}
		return trace.Scroll{DX: r.DX, DY: r.DY, Locator: position(r.Locator)}
	case *page.ToggleRequest:
		return trace.Toggle{State: r.State, Locator: named(r.Element)}
	case *page.ClearRequest:
		return trace.Clear{Locator: named(r.Element)}
	}
	return coarse(request)
}

func coarse(request any) trace.Action {
	switch request.(type) {
	case *page.EvaluateRequest:
		return trace.Evaluate{}
	case *page.SetCookiesRequest:
		return trace.SetCookies{}
	case *page.ClearCookiesRequest:
		return trace.ClearCookies{}
	}
	return nil
}

func selection(r *page.SelectRequest) trace.Action {
	s := trace.SelectOption{By: "value", Values: r.Values, Locator: named(r.Element)}
	switch {
	case r.Value != nil:
		s.Values = []string{*r.Value}
	case r.Label != nil:
		s.By, s.Values = "label", []string{*r.Label}
	case r.Labels != nil:
		s.By, s.Values = "label", r.Labels
	case r.Index != nil:
		s.By, s.Values = "index", []string{strconv.Itoa(*r.Index)}
	case r.Many != nil:
		s.By = "index"
		for _, i := range r.Many {
			s.Values = append(s.Values, strconv.Itoa(i))
		}
	}
	return s
}

func named(e page.Element) string {
	switch {
	case e.Ref != "":
		return "ref"
	case e.Query != "":
		return "query"
	case e.CSS != "":
		return "css"
	}
	return "focused"
}

func position(l page.Locator) string {
	if l.Point != nil {
		return "point"
	}
	if l.Element().Empty() {
		return ""
	}
	return named(l.Element())
}

// targetRef is the reference of the element an action is about: the one that was resolved, else the one that was
// asked for.
func targetRef(request any, p control.Prepared) string {
	if resolved, ok := p.(interface{ TargetRef() string }); ok && resolved.TargetRef() != "" {
		return resolved.TargetRef()
	}
	switch r := request.(type) {
	case *page.ClickRequest:
		return r.Ref
	case *page.FillRequest:
		return r.Ref
	case *page.TypeRequest:
		return r.Ref
	case *page.SelectRequest:
		return r.Ref
	case *page.ScrollRequest:
		if r.ToRef != "" {
			return r.ToRef
		}
		return r.Ref
	case *page.ToggleRequest:
		return r.Ref
	case *page.ClearRequest:
		return r.Ref
	}
	return ""
}
