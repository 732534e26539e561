// Package demo records a page through the program's own tools, as an agent would, and keeps the pictures.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
)

// Tools calls the program's tools over the protocol.
type Tools interface {
	// Call returns the structured answer of a tool; an answer that failed is returned as its fault.
	Call(ctx context.Context, tool string, arguments any) (json.RawMessage, error)
	// Read returns the content of a resource.
	Read(ctx context.Context, uri string) ([]byte, error)
}

// Options of a demo.
type Options struct {
	// URL is the page to record instead of the built-in one.
	URL string
	// Folder takes the files; it is made when missing.
	Folder string
	// Progress is told what is going on.
	Progress io.Writer
}

// after is how long after the action the pictures look.
const after = 1500 * time.Millisecond

// Account is what a demo found.
type Account struct {
	Frames, Gaps       int
	LagMS              float64
	FirstMS, PeakMS    *float64
	PeakArea           float64
	Files              []string
	Header             string
	Interaction, Range string
}

// Run records the page and writes storyboard, difference map and manifests.
func Run(ctx context.Context, tools Tools, o Options) (Account, error) {
	if err := os.MkdirAll(o.Folder, 0o755); err != nil { //nolint:gosec // pictures to look at, in a folder the user named
		return Account{}, unwritable(err)
	}
	d := &demo{tools: tools, Options: o}
	url := o.URL
	if url == "" {
		site, err := serve(ctx)
		if err != nil {
			return Account{}, err
		}
		defer site.close()
		url = site.url
	}
	if err := d.act(ctx, url); err != nil {
		return Account{}, err
	}
	d.say("asking what the page showed around it")
	raw, err := tools.Call(ctx, "temporal_debug_bundle", map[string]any{"after_ms": after.Milliseconds(), "detail": "expanded"})
	if err != nil {
		return Account{}, err
	}
	return d.keep(ctx, raw)
}

type demo struct {
	tools Tools
	Options
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Progress, "… "+format+"\n", args...) }

// act opens the page and, on the built-in one, clicks its button.
func (d *demo) act(ctx context.Context, url string) error {
	d.say("starting the browser and opening the page")
	if _, err := d.tools.Call(ctx, "open_page", map[string]any{"url": url}); err != nil {
		return err
	}
	if d.URL != "" {
		return nil
	}
	d.say("clicking Pay now")
	_, err := d.tools.Call(ctx, "click", map[string]any{"query": `role=button name="Pay now"`})
	return err
}

// answer is the part of a bundle's envelope that a demo uses.
type answer struct {
	Result struct {
		Header  string            `json:"header"`
		Measure *evidence.Measure `json:"measure"`
		Quality struct {
			Frames int                    `json:"frames"`
			Gaps   json.RawMessage        `json:"gaps"`
			Lag    *evidence.Distribution `json:"lag_ms"`
		} `json:"capture_quality"`
	} `json:"result"`
	Range struct {
		Gaps int `json:"gaps"`
	} `json:"range"`
	Resources []evidence.Resource `json:"resources"`
}

// keep writes every artifact and manifest of a bundle.
func (d *demo) keep(ctx context.Context, raw json.RawMessage) (Account, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Account{}, fault.From(err)
	}
	account := Account{Frames: a.Result.Quality.Frames, Gaps: a.Range.Gaps, Header: a.Result.Header}
	if lag := a.Result.Quality.Lag; lag != nil {
		account.LagMS = lag.P50
	}
	if m := a.Result.Measure; m != nil {
		account.FirstMS, account.PeakMS, account.PeakArea = m.FirstChangeMS, m.PeakMS, m.PeakArea
	}
	kind := ""
	for _, r := range a.Resources {
		name := r.Name
		switch r.Role {
		case "artifact":
			kind = r.Name
		case "manifest":
			name = kind + "-manifest"
		default:
			continue
		}
		file, err := d.write(ctx, name, r)
		if err != nil {
			return account, err
		}
		account.Files = append(account.Files, file)
	}
	return account, nil
}

func (d *demo) write(ctx context.Context, name string, r evidence.Resource) (string, error) {
	data, err := d.tools.Read(ctx, r.URI)
	if err != nil {
		return "", err
	}
	path := filepath.Join(d.Folder, name+map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "application/json": ".json"}[r.MediaType])
	if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // as above
		return "", unwritable(err)
	}
	return path, nil
}

func unwritable(err error) error {
	return fault.New(fault.PersistenceFailed, "the demo's folder cannot be written").WithPersistence("create", "permission", "writer_usable").
		Because(err).WithRecovery("name another folder with --out")
}

// Print writes the account for a person.
func (a Account) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n\n", a.Header)
	fmt.Fprintf(w, "frames recorded   %d\nlag (p50)         %.0f ms\ngaps              %d\n", a.Frames, a.LagMS, a.Gaps)
	fmt.Fprintf(w, "first change      %s\npeak              %s (%.1f %% of the picture)\n", offset(a.FirstMS), offset(a.PeakMS), 100*a.PeakArea)
	fmt.Fprintln(w, "files")
	for _, f := range a.Files {
		fmt.Fprintf(w, "  %s\n", f)
	}
}

func offset(ms *float64) string {
	if ms == nil {
		return "none seen"
	}
	return fmt.Sprintf("%+.0f ms", *ms)
}
