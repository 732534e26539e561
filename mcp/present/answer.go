package present

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

// Answer is an outcome ready to be sent.
type Answer struct {
	Envelope Envelope
	// Text holds the same facts for the model.
	Text   string
	images []mcp.Content
}

// Show makes the answer of one tool call. inline overrides the tool's default for pictures when it is not nil.
func Show(ctx context.Context, spec capability.Spec, out capability.Outcome, d Detail, inline *bool) Answer {
	if d == "" {
		d = Concise
	}
	count := wanted(spec, out, inline)
	images, shown, failed := pictures(ctx, out.Pictures, count)
	if failed != nil && out.Err == nil && len(images) == 0 {
		out.Status, out.Err, out.Stage = capability.Degraded, failed, "picture"
	}
	a := Answer{Envelope: envelope(spec.Name, out, d), images: images}
	a.Envelope.Images = shown
	if count > 0 && len(images) == 0 && failed == nil && len(out.Pictures) > 0 {
		a.Envelope.Notes = append(a.Envelope.Notes, "the picture is larger than an answer may carry; read its resource")
	}
	a.Text = text(a.Envelope, d)
	return a
}

// Result is the answer as the protocol carries it: text, pictures, links, structured content.
func (a Answer) Result() *mcp.CallToolResult {
	content := append([]mcp.Content{mcp.NewTextContent(a.Text)}, a.images...)
	for _, r := range a.Envelope.Resources {
		content = append(content, link(r))
	}
	return &mcp.CallToolResult{
		Content: content, StructuredContent: a.Envelope, IsError: a.Envelope.Status == capability.Failed,
	}
}

func link(r evidence.Resource) mcp.ResourceLink {
	l := mcp.NewResourceLink(r.URI, r.Name, strings.ReplaceAll(r.Role, "_", " "), r.MediaType)
	if r.Bytes > 0 {
		bytes := r.Bytes
		l.Size = &bytes
	}
	return l
}

// pictorial: the observed page is mostly canvas or video, so its structure says little.
func pictorial(result any) bool {
	switch r := result.(type) {
	case page.Observation:
		return r.Tree != nil && r.Tree.Pictorial
	case control.Result:
		return r.Observation != nil && pictorial(*r.Observation)
	case control.BatchResult:
		return r.Final != nil && pictorial(*r.Final)
	}
	return false
}

// text lays the envelope out for the model.
func text(e Envelope, d Detail) string {
	var lines []string
	lines = append(lines, headline(e))
	lines = append(lines, body(e.Result, d)...)
	lines = append(lines, about(e, d)...)
	for _, w := range e.Warnings {
		lines = append(lines, "warning "+describe(w))
	}
	for _, note := range e.Notes {
		lines = append(lines, "note: "+note)
	}
	if e.Diagnostics != nil {
		lines = append(lines, fmt.Sprintf("diagnostics: correlation %s, stage %s, cause %s", e.Diagnostics.CorrelationID, e.Diagnostics.Stage, e.Diagnostics.Cause))
	}
	for _, next := range e.Next {
		lines = append(lines, "next: "+next)
	}
	return strings.Join(lines, "\n")
}

func headline(e Envelope) string {
	line := e.Tool + " " + string(e.Status)
	if e.Status != capability.Succeeded && e.Error != nil {
		return line + ": " + describe(e.Error)
	}
	if fact := headFact(e.Result); fact != "" {
		line += ": " + fact
	}
	return line
}

// describe is a fault in one line: code, message, retry advice, limit and recovery.
func describe(f *fault.Error) string {
	line := string(f.Code) + ": " + f.Message
	if f.Limit != nil {
		line += fmt.Sprintf(" (%s %d, limit %d", f.Limit.Subject, f.Limit.Actual, f.Limit.Limit)
		if f.Limit.TryAtMost > 0 {
			line += fmt.Sprintf(", try at most %d", f.Limit.TryAtMost)
		}
		line += ")"
	}
	if p := f.Persistence; p != nil {
		line += fmt.Sprintf(" (%s, %s, %s)", p.Operation, p.Category, p.Recoverability)
	}
	if f.Context != nil && f.Context.Range != nil {
		line += fmt.Sprintf(" (range %s to %s)", at(int64(f.Context.Range.StartNS)), at(int64(f.Context.Range.EndNS)))
	}
	if f.Recovery != "" {
		line += "; recovery: " + f.Recovery
	}
	return line + "; retry " + string(f.Retry)
}

// about names the interaction, the range, the pictures and the resources.
func about(e Envelope, d Detail) []string {
	var lines []string
	if i := e.Interaction; i != nil {
		lines = append(lines, interactionLine(i, d))
	}
	if r := e.Range; r != nil {
		line := fmt.Sprintf("range %s to %s of %s in %s, anchor %s, retention %s, %d gaps, time %s", at(int64(r.StartNS)), at(int64(r.EndNS)),
			r.TargetID, r.SessionID, strings.TrimSpace(r.Anchor.Kind+" "+r.Anchor.ID), r.Retention, r.GapCount, r.TimeSource)
		if e.RangeHandle != "" {
			line += ", handle " + string(e.RangeHandle)
		}
		lines = append(lines, line)
	}
	for _, i := range e.Images {
		if i.Inline || !ofObservation(i.Role) {
			lines = append(lines, imageLine(i))
		}
	}
	for _, r := range e.Resources {
		lines = append(lines, fmt.Sprintf("resource %s %s (%s%s)", r.Role, r.URI, r.MediaType, size(r.Bytes)))
	}
	return lines
}

func size(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", %d bytes", bytes)
}

// ofObservation: the picture's identifier and size stand beside its observation already.
func ofObservation(role evidence.Role) bool {
	switch role {
	case evidence.RolePostAction, evidence.RoleLive, evidence.RoleBatchStep, evidence.RoleBatchFinal:
		return true
	}
	return false
}

func interactionLine(i *capability.InteractionRef, d Detail) string {
	line := fmt.Sprintf("interaction %s %s on %s", i.ID, i.Operation, i.TargetID)
	if i.DispatchedNS == nil {
		return line + ": nothing was sent"
	}
	line += " dispatched " + at(int64(*i.DispatchedNS))
	if i.Outcome != "" {
		line += " " + string(i.Outcome)
	}
	if d != Concise && i.Record != nil && len(i.Record.Parameters) > 0 {
		line += " with " + inline(i.Record.Parameters)
	}
	return line
}

func imageLine(i Image) string {
	line := fmt.Sprintf("picture %s %dx%d", i.Role, i.Width, i.Height)
	for _, name := range []string{string(i.ArtifactID), string(i.FrameID), string(i.ObservationID)} {
		if name != "" {
			line += " " + name
		}
	}
	if i.CSSPerPixel > 0 {
		line += fmt.Sprintf(", %.4g CSS px a pixel", i.CSSPerPixel)
	}
	if !i.Inline {
		line += ", not inline"
	}
	return line
}
