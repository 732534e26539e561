package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/page"
)

func (o Operations) interactions() []capability.Op {
	r := o.Runner
	return []capability.Op{
		change[page.ClickRequest](r, capability.Spec{
			Name: "click", Lean: true, Title: "Click",
			Summary: "Click with trusted input. Fails before any input when the element is covered, moving or disabled, and says what is in the way.",
		}),
		change[page.FillRequest](r, capability.Spec{
			Name: "fill", Lean: true, Title: "Fill",
			Summary: "Put a value into an input, textarea, rich editor or native control and verify that it took. append keeps what is there.",
		}),
		change[page.TypeRequest](r, capability.Spec{
			Name: "type_text", Lean: true, Title: "Type",
			Summary: "Type with real key events at the caret, optionally focusing an element first. Never clears.",
		}),
		change[page.PressRequest](r, capability.Spec{
			Name: "press_keys", Lean: true, Title: "Press keys",
			Summary: "Press key chords in order, optionally held.",
		}),
		change[page.SelectRequest](r, capability.Spec{
			Name: "select_option", Lean: true, Title: "Select an option",
			Summary: "Choose options of a native select: one of value, label, index or their lists.",
		}),
		change[page.ToggleRequest](r, capability.Spec{
			Name: "toggle", Title: "Toggle", Summary: "Set or flip a checkbox, radio, switch or details element.",
		}),
		change[page.ClearRequest](r, capability.Spec{
			Name: "clear", Title: "Clear", Summary: "Empty an input, textarea or rich editor.",
		}),
		change[page.HoverRequest](r, capability.Spec{
			Name: "hover", Lean: true, Title: "Hover", Summary: "Move the pointer onto an element or point and leave it there.",
		}),
		change[page.DragRequest](r, capability.Spec{
			Name: "drag", Lean: true, Title: "Drag", Summary: "Drag by pointer, HTML5 drag and drop too.",
		}),
		change[page.ScrollRequest](r, capability.Spec{
			Name: "scroll", Lean: true, PicturesByDefault: true, Title: "Scroll",
			Summary: "Scroll the page, or the scrollable container of an element, by an offset, or bring something into view.",
		}),
		change[page.UploadRequest](r, capability.Spec{
			Name: "upload_files", Lean: true, Title: "Upload files",
			Summary: "Give files to a file input or to the button that stands for it.",
		}),
		change[page.HandleDialogRequest](r, capability.Spec{
			Name: "handle_dialog", Lean: true, Lane: capability.Free, Title: "Handle a dialog",
			Summary: "Accept or dismiss the open dialog of a page.",
		}),
		o.wait(),
		o.batch(),
	}
}

func (o Operations) wait() capability.Op {
	return capability.Define[page.WaitRequest, page.WaitResult](capability.Spec{
		Name: "wait", Capability: capability.Control, Kind: capability.Read, Lane: capability.Observing, Batchable: true, Lean: true,
		OwnDeadline: true, Idempotent: true, Title: "Wait",
		Summary: "Wait for exactly one of text, query, state of ref or css, navigation, url, expression, network_quiet_ms, elapsed_ms. Holds nothing up.",
	}, func(ctx context.Context, r *page.WaitRequest) (capability.Outcome, error) {
		var result page.WaitResult
		err := capability.Yield(ctx, func() (err error) {
			result, err = o.Waiter.Wait(ctx, *r)
			return err
		})
		return capability.Outcome{Result: result, Stage: "wait"}, err
	})
}

func (o Operations) batch() capability.Op {
	return capability.Define[page.BatchRequest, BatchResult](capability.Spec{
		Name: "batch", Capability: capability.Control, Kind: capability.Change, Lane: capability.Mutating, Lean: true, OwnDeadline: true,
		Tiers: true, Pictures: true, OpenWorld: true, Title: "Batch",
		Summary: "Run steps in order on a page, with evidence for each and one final observation.",
	}, func(ctx context.Context, r *page.BatchRequest) (capability.Outcome, error) {
		return o.Batch.Run(ctx, r)
	})
}
