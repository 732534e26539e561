package input

import (
	"context"

	core "github.com/krometrail/krometrail/core/page"
)

func prepareSetCookies(_ context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.SetCookiesRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"count": len(r.Cookies)}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		return result(d.Transfers.SetCookies(ctx, c.session, r, sending))
	}
	return nil
}

func prepareClearCookies(_ context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.ClearCookiesRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"name": r.Name != "", "domain": r.Domain != "", "url": r.URL != ""}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		return result(d.Transfers.ClearCookies(ctx, c.session, r, sending))
	}
	return nil
}

func prepareWriteClipboard(_ context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.WriteClipboardRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"bytes": len(r.Text)}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		done, err := d.Transfers.WriteClipboard(ctx, c.session, r, sending)
		if err != nil {
			return nil, err
		}
		c.clipboard = &done.Confirmed
		// The record is completed after the dispatch, and takes the confirmation with it.
		c.parameters["confirmed"] = done.Confirmed
		return done, nil
	}
	return nil
}

func prepareCancelDownload(_ context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.CancelDownloadRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"download_id": r.DownloadID}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		return result(d.Transfers.CancelDownload(ctx, r, sending))
	}
	return nil
}

// result keeps a failed operation from answering a zero value.
func result[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
