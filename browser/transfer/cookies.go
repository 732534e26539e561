package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// cookie is a cookie of the protocol.
type cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"`
}

// Cookies reads the cookies that requests to the given addresses would carry; by default the page's own.
func (t *Transfers) Cookies(ctx context.Context, r core.GetCookiesRequest) (core.GetCookiesResult, error) {
	out := core.GetCookiesResult{Cookies: []core.Cookie{}}
	if err := r.Validate(); err != nil {
		return out, err
	}
	s, err := t.pages.Page(r.Target)
	if err != nil {
		return out, err
	}
	urls := r.URLs
	if len(urls) == 0 {
		urls = []string{address(s)}
	}
	list, err := cookiesFor(ctx, s, urls)
	for _, c := range list {
		if len(r.Names) == 0 || slices.Contains(r.Names, c.Name) {
			out.Cookies = append(out.Cookies, c.shown())
		}
	}
	return out, err
}

func address(s *page.Session) string {
	doc, _ := s.Document("")
	return doc.URL
}

func cookiesFor(ctx context.Context, s *page.Session, urls []string) ([]cookie, error) {
	var reply struct {
		Cookies []cookie `json:"cookies"`
	}
	err := s.Send(ctx, "Network.getCookies", map[string]any{"urls": urls}, &reply)
	return reply.Cookies, err
}

func (c cookie) shown() core.Cookie {
	out := core.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure, HTTPOnly: c.HTTPOnly, SameSite: c.SameSite}
	if c.Expires > 0 {
		at := time.Unix(int64(c.Expires), 0).UTC()
		out.Expires = &at
	}
	return out
}

// SetCookies implements input.Transfers.
func (t *Transfers) SetCookies(ctx context.Context, s *page.Session, r *core.SetCookiesRequest, sending func()) (core.CookieCount, error) {
	list := make([]map[string]any, len(r.Cookies))
	for i, c := range r.Cookies {
		list[i] = param(c, s)
		if list[i] == nil {
			return core.CookieCount{}, fault.Input(fmt.Sprintf("cookies[%d].url", i), "give url or domain: the page itself has no web address")
		}
	}
	sending()
	err := s.Send(ctx, "Network.setCookies", map[string]any{"cookies": list}, nil)
	if _, ok := errors.AsType[*cdp.Error](err); ok {
		return core.CookieCount{}, fault.New(fault.InteractionFailed, "the browser refused a cookie").WithRetry(fault.Never).
			WithRecovery("check domain, secure, same_site=None (needs secure) and __Host-/__Secure- names").Because(err)
	}
	return core.CookieCount{Count: len(list)}, err
}

func param(c core.Cookie, s *page.Session) map[string]any {
	p := map[string]any{"name": c.Name, "value": c.Value, "secure": c.Secure, "httpOnly": c.HTTPOnly}
	add := func(key, value string) {
		if value != "" {
			p[key] = value
		}
	}
	add("domain", c.Domain)
	add("path", c.Path)
	add("sameSite", c.SameSite)
	add("url", c.URL)
	if c.Expires != nil {
		p["expires"] = float64(c.Expires.Unix())
	}
	if c.URL == "" && c.Domain == "" {
		url := address(s)
		if !strings.HasPrefix(url, "http") {
			return nil
		}
		p["url"] = url
	}
	return p
}

// ClearCookies implements input.Transfers: it removes the cookies that fit every given field, or all.
func (t *Transfers) ClearCookies(ctx context.Context, s *page.Session, r *core.ClearCookiesRequest, sending func()) (core.CookieCount, error) {
	list, err := candidates(ctx, s, r)
	if err != nil {
		return core.CookieCount{}, err
	}
	sending()
	removed := 0
	for _, c := range list {
		if (r.Name != "" && c.Name != r.Name) || (r.Domain != "" && !within(c.Domain, r.Domain)) {
			continue
		}
		err := s.Send(ctx, "Network.deleteCookies", map[string]any{"name": c.Name, "domain": c.Domain, "path": c.Path}, nil)
		if err != nil {
			return core.CookieCount{Count: removed}, err
		}
		removed++
	}
	return core.CookieCount{Count: removed}, nil
}

func candidates(ctx context.Context, s *page.Session, r *core.ClearCookiesRequest) ([]cookie, error) {
	if r.URL != "" {
		return cookiesFor(ctx, s, []string{r.URL})
	}
	var reply struct {
		Cookies []cookie `json:"cookies"`
	}
	err := s.Send(ctx, "Storage.getCookies", map[string]any{}, &reply)
	return reply.Cookies, err
}

// within reports whether a cookie's domain is the given one or below it.
func within(domain, given string) bool {
	domain, given = strings.TrimPrefix(domain, "."), strings.TrimPrefix(given, ".")
	return strings.EqualFold(domain, given) || strings.HasSuffix(strings.ToLower(domain), "."+strings.ToLower(given))
}
