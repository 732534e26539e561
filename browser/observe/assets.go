package observe

import (
	"context"

	"github.com/krometrail/krometrail/browser/page"
	core "github.com/krometrail/krometrail/core/page"
)

// maxAssets bounds the rows of one answer.
const maxAssets = 256

type resourceTree struct {
	Frame struct {
		URL  string `json:"url"`
		Mime string `json:"mimeType"`
	} `json:"frame"`
	Children  []resourceTree `json:"childFrames"`
	Resources []struct {
		URL  string   `json:"url"`
		Type string   `json:"type"`
		Size *float64 `json:"contentSize"`
	} `json:"resources"`
}

// timing is what the page's own timeline says about one loaded resource.
type timing struct {
	URL      string  `json:"url"`
	Duration float64 `json:"duration"`
	Transfer int64   `json:"transfer"`
	Body     int64   `json:"body"`
	Kind     string  `json:"kind"`
}

// Assets lists what the page has loaded: complete up to the bound, without raw paths or queries.
func (o *Observer) Assets(ctx context.Context, r core.ListAssetsRequest) (core.ListAssetsResult, error) {
	out := core.ListAssetsResult{Counts: map[string]int{}, Assets: []core.Asset{}}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return out, err
	}
	var reply struct {
		Tree resourceTree `json:"frameTree"`
	}
	if err := s.Send(ctx, "Page.getResourceTree", nil, &reply); err != nil {
		return out, err
	}
	d, err := o.snapshots.Document(ctx, s, "")
	if err != nil {
		return out, err
	}
	var timings []timing
	if err := d.Call(ctx, &timings, "timings"); err != nil {
		return out, err
	}
	l := &assetList{session: s, out: &out, timings: map[string]timing{}, seen: map[string]bool{}}
	for _, t := range timings {
		l.timings[t.URL] = t
	}
	l.frame(reply.Tree)
	for _, t := range timings {
		l.add(t.URL, t.Kind, nil)
	}
	return out, nil
}

type assetList struct {
	session *page.Session
	out     *core.ListAssetsResult
	timings map[string]timing
	seen    map[string]bool
}

func (l *assetList) frame(t resourceTree) {
	l.add(t.Frame.URL, "document", nil)
	for _, r := range t.Resources {
		l.add(r.URL, assetKind(r.Type), r.Size)
	}
	for _, child := range t.Children {
		l.frame(child)
	}
}

func (l *assetList) add(url, kind string, size *float64) {
	if url == "" || l.seen[url] {
		return
	}
	l.seen[url] = true
	l.out.Counts[kind]++
	if len(l.out.Assets) == maxAssets {
		l.out.SourceOmitted++
		return
	}
	summary := l.session.Summarize(url)
	a := core.Asset{Kind: kind, Origin: origin(url), PathHash: summary.PathHash, Extension: summary.Extension}
	if size != nil && *size > 0 {
		n := int64(*size)
		a.BodyBytes = &n
	}
	if t, ok := l.timings[url]; ok {
		a.DurationMS = round(t.Duration)
		if t.Transfer > 0 {
			a.TransferBytes = &t.Transfer
		}
		if t.Body > 0 {
			a.BodyBytes = &t.Body
		}
	}
	l.out.Assets = append(l.out.Assets, a)
}

func assetKind(browserType string) string {
	switch browserType {
	case "Document":
		return "document"
	case "Stylesheet":
		return "stylesheet"
	case "Script":
		return "script"
	case "Image":
		return "image"
	case "Font":
		return "font"
	case "Media":
		return "media"
	case "XHR":
		return "xhr"
	case "Fetch":
		return "fetch"
	}
	return "other"
}
