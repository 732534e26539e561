package transfer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// on follows the browser's events, on the connection's reading goroutine.
func (d *Downloads) on(e cdp.Event) {
	var p struct {
		GUID     string  `json:"guid"`
		URL      string  `json:"url"`
		Name     string  `json:"suggestedFilename"`
		Total    float64 `json:"totalBytes"`
		Received float64 `json:"receivedBytes"`
		State    string  `json:"state"`
	}
	if e.Decode(&p) != nil || p.GUID == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	row := d.byGUID(p.GUID)
	if e.Method == "Browser.downloadWillBegin" {
		if row == nil {
			d.begin(p.GUID, p.URL, p.Name)
		}
		return
	}
	if row == nil {
		return
	}
	if row.State != inProgress {
		if p.State == "completed" && row.State != complete {
			d.discard(row)
		}
		return
	}
	row.Bytes = int64(p.Received)
	if p.Total > 0 {
		total := int64(p.Total)
		row.TotalBytes = &total
	}
	d.advance(row, p.State)
	d.wake()
}

func (d *Downloads) byGUID(guid string) *download {
	for _, r := range d.rows {
		if r.guid == guid {
			return r
		}
	}
	return nil
}

func (d *Downloads) begin(guid, url, name string) {
	if len(d.rows) >= maxRows {
		d.unlisted++
		d.stop(guid)
		d.wake()
		return
	}
	kept := d.kept()
	row := &download{guid: guid, Download: core.Download{
		ID: id.New[id.Download](), State: inProgress, Name: fileName(name), Source: source(url), MediaType: mediaType(name),
	}}
	d.rows = append(d.rows, row)
	if kept >= maxDownloads {
		d.refuse(row, tooMany)
	}
	d.wake()
}

// kept counts the downloads that have a file or are getting one.
func (d *Downloads) kept() (n int) {
	for _, r := range d.rows {
		if r.State == inProgress || r.State == complete {
			n++
		}
	}
	return n
}

// refuse ends a download for a limit; a file that came all the same goes when its last event arrives.
func (d *Downloads) refuse(row *download, reason string) {
	row.State, row.Reason = failed, reason
	d.stop(row.guid)
}

// discard removes the file of a download that ended by a limit after its last byte had come.
func (d *Downloads) discard(row *download) {
	if err := os.Remove(filepath.Join(d.dir, row.guid)); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.log.Warn("a refused download was not removed", "error", err)
	}
}

func large(row *download) bool {
	return row.Bytes > maxFile || (row.TotalBytes != nil && *row.TotalBytes > maxFile)
}

func (d *Downloads) advance(row *download, state string) {
	switch state {
	case "completed":
		if large(row) {
			row.State, row.Reason = failed, tooLarge
			d.discard(row)
			return
		}
		row.State, row.Path = complete, filepath.Join(d.dir, row.guid)
		row.Resource = evidence.DownloadURI(d.session, row.ID)
	case "canceled":
		row.State = aborted
	default:
		if large(row) {
			d.refuse(row, tooLarge)
		}
	}
}

func (d *Downloads) stop(guid string) {
	_ = d.browser.Client().StartFunc("", "Browser.cancelDownload", map[string]any{"guid": guid}, func([]byte, error) {})
}

func source(url string) string {
	if o := redact.Origin(url); o != "" {
		return o
	}
	return "opaque"
}

// fileName is a suggested name without directories and control characters.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	if name == "" || name == "." || name == ".." {
		return "download"
	}
	return name
}

// mediaType is told by the name's extension, from a fixed list.
func mediaType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".txt", ".log", ".md":
		return "text/plain"
	case ".csv":
		return "text/csv"
	case ".json":
		return "application/json"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".zip":
		return "application/zip"
	case ".html", ".htm":
		return "text/html"
	case ".xml":
		return "application/xml"
	}
	return "application/octet-stream"
}
