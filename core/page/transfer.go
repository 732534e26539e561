package page

import (
	"time"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Limits of transfers.
const (
	MaxClipboard = 64 << 10
	MaxCookies   = 64
)

// GetCookiesRequest asks for cookies; values appear in the answer only and are never recorded.
type GetCookiesRequest struct {
	Scope
	URLs  []string `json:"urls,omitempty" doc:"default the page's" max:"16"`
	Names []string `json:"names,omitempty" max:"64"`
}

// Validate checks.
func (r *GetCookiesRequest) Validate() error {
	if len(r.URLs) > 16 {
		return fault.Input("urls", "at most 16")
	}
	if len(r.Names) > MaxCookies {
		return fault.Input("names", "at most 64")
	}
	return nil
}

// GetCookiesResult lists cookies.
type GetCookiesResult struct {
	Cookies []Cookie `json:"cookies"`
}

// Cookie is one cookie. On set_cookies a URL or a domain is needed; the page's URL is the default.
type Cookie struct {
	Name     string `json:"name" maxlen:"4096"`
	Value    string `json:"value" maxlen:"4096"`
	URL      string `json:"url,omitempty" maxlen:"4096"`
	Domain   string `json:"domain,omitempty"`
	Path     string `json:"path,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	HTTPOnly bool   `json:"http_only,omitempty"`
	SameSite string `json:"same_site,omitempty" enum:"Strict,Lax,None"`
	// Expires is absent for session cookies.
	Expires *time.Time `json:"expires,omitempty"`
}

// SetCookiesRequest sets cookies.
type SetCookiesRequest struct {
	Scope
	Cookies []Cookie `json:"cookies" min:"1" max:"64"`
}

// Validate checks.
func (r *SetCookiesRequest) Validate() error {
	if len(r.Cookies) < 1 || len(r.Cookies) > MaxCookies {
		return fault.Input("cookies", "give 1 to 64")
	}
	for i := range r.Cookies {
		c := &r.Cookies[i]
		if c.Name == "" {
			return fault.Input(index("cookies", i)+".name", "must not be empty")
		}
		if c.SameSite != "" {
			if err := oneOf(&c.SameSite, index("cookies", i)+".same_site", "Strict", "Lax", "None"); err != nil {
				return err
			}
		}
	}
	return nil
}

// ClearCookiesRequest removes cookies: all of the page's, or those that fit every given field.
type ClearCookiesRequest struct {
	Scope
	Name   string `json:"name,omitempty" maxlen:"4096"`
	Domain string `json:"domain,omitempty"`
	URL    string `json:"url,omitempty" doc:"default the page's" maxlen:"4096"`
}

// CookieCount says how many cookies were set or removed.
type CookieCount struct {
	Count int `json:"count"`
}

// ReadClipboardRequest asks for the clipboard's text.
type ReadClipboardRequest struct{ Scope }

// ReadClipboardResult is the text, at most MaxClipboard bytes.
type ReadClipboardResult struct {
	Text string `json:"text"`
}

// WriteClipboardRequest puts text on the clipboard.
type WriteClipboardRequest struct {
	Scope
	Text string `json:"text" maxlen:"65536"`
}

// Validate checks.
func (r *WriteClipboardRequest) Validate() error {
	if len(r.Text) > MaxClipboard {
		return fault.New(fault.ResourceLimitExceeded, "the text is longer than a clipboard write may be").
			WithLimit("clipboard_bytes", int64(len(r.Text)), MaxClipboard, MaxClipboard)
	}
	return nil
}

// WriteClipboardResult says whether reading back gave the same text.
type WriteClipboardResult struct {
	Confirmed bool `json:"confirmed"`
}

// ListDownloadsRequest asks for the session's downloads.
type ListDownloadsRequest struct{}

// Download is one observed download.
type Download struct {
	ID id.Download `json:"download_id"`
	// State is in_progress, complete, cancelled or failed.
	State string `json:"state"`
	// Name is the suggested file name, without directories or control characters.
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// TotalBytes is absent when the server did not say.
	TotalBytes *int64 `json:"total_bytes,omitempty"`
	// Source is the origin only.
	Source string `json:"source"`
	// Resource and Path are present when complete.
	Resource string `json:"resource,omitempty"`
	Path     string `json:"path,omitempty"`
	// Reason says why the program itself ended the download: the limit that it met.
	Reason    string    `json:"reason,omitempty"`
	MediaType string    `json:"mime_type,omitempty"`
	TargetID  id.Target `json:"target_id,omitempty"`
}

// ListDownloadsResult always has a cursor.
type ListDownloadsResult struct {
	Cursor    string     `json:"cursor"`
	Downloads []Download `json:"downloads"`
	// Unlisted counts downloads that were stopped when the inventory itself was full.
	Unlisted int `json:"unlisted,omitempty"`
}

// WaitForDownloadRequest waits for a download to appear or to end.
type WaitForDownloadRequest struct {
	After      string      `json:"after" doc:"cursor" maxlen:"64"`
	DownloadID id.Download `json:"download_id,omitempty"`
	Terminal   *bool       `json:"terminal,omitempty" doc:"ended, not only begun" default:"true"`
	TimeoutMS  int         `json:"timeout_ms,omitempty" min:"1" max:"120000" default:"25000"`
}

// Ended reports whether the download must have ended.
func (r *WaitForDownloadRequest) Ended() bool { return r.Terminal == nil || *r.Terminal }

// Validate fills in defaults and checks.
func (r *WaitForDownloadRequest) Validate() error {
	if r.After == "" {
		return fault.Input("after", "give a cursor from list_downloads or from an action's postconditions")
	}
	if r.DownloadID != "" {
		if _, err := id.Parse[id.Download](string(r.DownloadID)); err != nil {
			return fault.Input("download_id", err.Error())
		}
	}
	return within(&r.TimeoutMS, "timeout_ms", 1, 120000, 25000)
}

// CancelDownloadRequest stops a download.
type CancelDownloadRequest struct {
	DownloadID id.Download `json:"download_id"`
}

// Validate checks.
func (r *CancelDownloadRequest) Validate() error {
	if _, err := id.Parse[id.Download](string(r.DownloadID)); err != nil {
		return fault.Input("download_id", err.Error())
	}
	return nil
}

// CancelDownloadResult is the state afterwards.
type CancelDownloadResult struct {
	ID    id.Download `json:"download_id"`
	State string      `json:"state"`
}
