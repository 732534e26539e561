package realtest

import "testing"

func TestExplore(t *testing.T) {
	p := start(t, nil)
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html"})
	p.do(t, "click", args{"query": `role=button name="Save"`})
	b := p.do(t, "temporal_debug_bundle", args{"after_ms": 800})
	p.ask(t, "temporal_debug_bundle", args{"after_ms": 800, "detail": "expanded"})
	p.ask(t, "temporal_debug_bundle", args{"after_ms": 800, "detail": "full"})
	h := b.Envelope.RangeHandle
	p.ask(t, "measure_change", args{"range_handle": h})
	p.ask(t, "generate_artifacts", args{"range_handle": h, "kinds": []string{"motion_history", "storyboard"}})
	p.ask(t, "list_source_frames", args{"range_handle": h, "max_frames": 2})
	p.ask(t, "fetch_source_frames", args{"range_handle": h, "max_frames": 2})
	p.ask(t, "resolve_temporal_range", args{"last_ms": 1000})
	p.ask(t, "query_browser_events", args{"range_handle": h})
	p.ask(t, "generate_region_filmstrip", args{"range_handle": h, "rect": args{"x": 20, "y": 60, "width": 200, "height": 100}})
	s := p.do(t, "query_page", args{"query": `role=button name="Save"`})
	var q struct{ Ref string }
	s.result(t, &q)
	p.ask(t, "generate_region_filmstrip", args{"range_handle": h, "ref": q.Ref})
	v := p.ask(t, "generate_temporal_video", args{"range_handle": h})
	p.ask(t, "generate_temporal_video", args{"range_handle": h, "policy": "real_time"})
	for _, r := range v.Envelope.Resources {
		t.Log(r.URI, len(p.read(t, r.URI)))
		if r.Role == "manifest" {
			t.Log(string(p.read(t, r.URI)))
		}
	}
	p.ask(t, "browser_status", args{})
	p.ask(t, "pin_range", args{"range_handle": h})
	p.ask(t, "query_pins", args{})
	p.ask(t, "add_marker", args{"label": "here"})
}
