package control

import (
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

// PageCommands are the page operations that a browser session carries out itself. Every method calls
// sending right before its first command leaves.
type PageCommands interface {
	Navigate(ctx context.Context, r *page.NavigateRequest, sending func()) (page.NavigateResult, error)
	Reload(ctx context.Context, r *page.ReloadRequest, sending func()) (page.NavigateResult, error)
	Back(ctx context.Context, r *page.BackRequest, sending func()) (page.NavigateResult, error)
	Forward(ctx context.Context, r *page.ForwardRequest, sending func()) (page.NavigateResult, error)
	SetViewport(ctx context.Context, r *page.ViewportRequest, sending func()) (page.ViewportResult, error)
}

// PageDriver is a Driver for page commands. Settling and observing are those of the driver of interactions.
type PageDriver struct {
	commands PageCommands
	Driver
}

// NewPageDriver returns a driver that carries out page commands itself and leaves all other operations,
// and every observation, to rest.
func NewPageDriver(commands PageCommands, rest Driver) *PageDriver {
	return &PageDriver{commands: commands, Driver: rest}
}

// command is a prepared page command.
type command struct {
	Prepared
	parameters json.RawMessage
	run        func(ctx context.Context, sending func()) (any, error)
}

// Parameters implements Prepared.
func (c command) Parameters() json.RawMessage { return c.parameters }

// Resolve implements Driver. The inner driver notes the state before the action under the operation's name.
func (d *PageDriver) Resolve(ctx context.Context, a Action) (Prepared, error) {
	run, parameters := d.command(a)
	prepared, err := d.Driver.Resolve(ctx, a)
	if err != nil || run == nil {
		return prepared, err
	}
	return command{Prepared: prepared, parameters: parameters, run: run}, nil
}

// command is nil for operations of the inner driver.
func (d *PageDriver) command(a Action) (func(context.Context, func()) (any, error), json.RawMessage) {
	switch r := a.Request.(type) {
	case *page.NavigateRequest:
		return func(ctx context.Context, sending func()) (any, error) { return d.commands.Navigate(ctx, r, sending) }, Parameters(map[string]any{"wait": r.Wait})
	case *page.ReloadRequest:
		return func(ctx context.Context, sending func()) (any, error) { return d.commands.Reload(ctx, r, sending) }, Parameters(map[string]any{"bypass_cache": r.BypassCache})
	case *page.BackRequest:
		return func(ctx context.Context, sending func()) (any, error) { return d.commands.Back(ctx, r, sending) }, Parameters(map[string]any{})
	case *page.ForwardRequest:
		return func(ctx context.Context, sending func()) (any, error) { return d.commands.Forward(ctx, r, sending) }, Parameters(map[string]any{})
	case *page.ViewportRequest:
		return func(ctx context.Context, sending func()) (any, error) { return d.commands.SetViewport(ctx, r, sending) }, Parameters(map[string]any{
			"preset": r.Preset, "width": r.Width, "height": r.Height, "device_scale_factor": r.DeviceScaleFactor,
			"mobile": r.Mobile, "touch": r.Touch, "clear": r.Clear,
		})
	}
	return nil, nil
}

// Dispatch implements Driver.
func (d *PageDriver) Dispatch(ctx context.Context, a Action, p Prepared, sending func()) (any, error) {
	c, ok := p.(command)
	if !ok {
		return d.Driver.Dispatch(ctx, a, p, sending)
	}
	result, err := c.run(ctx, sending)
	if fault.CodeOf(err) == fault.DialogOpen {
		// The navigation is under way and a dialog holds it up: that is an outcome, not a failure.
		return result, nil
	}
	return result, err
}

// Settle implements Driver.
func (d *PageDriver) Settle(ctx context.Context, a Action, p Prepared) (Settled, error) {
	return d.Driver.Settle(ctx, a, inner(p))
}

// Observe implements Driver.
func (d *PageDriver) Observe(ctx context.Context, a Action, p Prepared, s Settled) (page.Observation, error) {
	return d.Driver.Observe(ctx, a, inner(p), s)
}

func inner(p Prepared) Prepared {
	if c, ok := p.(command); ok {
		return c.Prepared
	}
	return p
}
