package snapshot

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
)

const (
	// maxShadowDepth bounds how deep closed shadow roots may lie in each other.
	maxShadowDepth = 4
	// maxListeners bounds how many elements with listeners are looked at in one document.
	maxListeners = 256
)

// withDeadline bounds work in a document by its session's clock.
func withDeadline(ctx context.Context, d *Document, limit time.Duration) (context.Context, context.CancelFunc) {
	return clock.WithTimeout(ctx, d.Session.Clock().Clock(), limit)
}

// ContentFrame is the browser's name of the frame that a frame element shows, "" when it shows none.
func (d *Document) ContentFrame(ctx context.Context, element uint64) (string, error) {
	h := d.Hold()
	defer h.Release()
	handle, err := h.Node(ctx, element)
	if err != nil || handle == "" {
		return "", err
	}
	described, err := d.describe(ctx, map[string]any{"objectId": handle})
	return described.FrameID, err
}

type described struct {
	FrameID     string `json:"frameId"`
	BackendID   int64  `json:"backendNodeId"`
	ShadowRoots []struct {
		BackendID int64  `json:"backendNodeId"`
		Type      string `json:"shadowRootType"`
	} `json:"shadowRoots"`
}

func (d *Document) describe(ctx context.Context, node map[string]any) (described, error) {
	var reply struct {
		Node described `json:"node"`
	}
	err := d.Session.Send(ctx, "DOM.describeNode", node, &reply)
	return reply.Node, gone(err)
}

// exploreShadows hands closed shadow roots of the last walk's suspects to the script.
func (r *Registry) exploreShadows(ctx context.Context, d *Document) (found int, err error) {
	h := d.Hold()
	defer h.Release()
	list, err := h.object(ctx, "suspects")
	if err != nil || list == "" {
		return 0, err
	}
	hosts, err := h.elements(ctx, list)
	if err != nil {
		return 0, err
	}
	pending := make([]*page.Pending, 0, len(hosts))
	for _, host := range hosts {
		p, err := d.Session.Start(ctx, "DOM.describeNode", map[string]any{"objectId": host, "depth": 0, "pierce": true})
		if err != nil {
			return 0, err
		}
		pending = append(pending, p)
	}
	for i, p := range pending {
		var reply struct {
			Node described `json:"node"`
		}
		if p.Wait(&reply) != nil {
			continue // the host is gone again
		}
		for _, root := range reply.Node.ShadowRoots {
			if root.Type == "closed" && h.adopt(ctx, hosts[i], root.BackendID) == nil {
				found++
			}
		}
	}
	return found, nil
}

func (h *Handles) adopt(ctx context.Context, host string, root int64) error {
	handle, err := h.resolve(ctx, root)
	if err != nil {
		return err
	}
	return h.Call(ctx, nil, "adopt", objectArg(host), objectArg(handle))
}

// resolve returns a handle of a backend node in the isolated world.
func (h *Handles) resolve(ctx context.Context, backend int64) (string, error) {
	var reply struct {
		Object remoteObject `json:"object"`
	}
	err := h.Session.Send(ctx, "DOM.resolveNode", map[string]any{
		"backendNodeId": backend, "executionContextId": h.World, "objectGroup": h.group,
	}, &reply)
	return reply.Object.ObjectID, err
}

// elements are the handles of a list's elements.
func (h *Handles) elements(ctx context.Context, list string) ([]string, error) {
	var reply struct {
		Result []struct {
			Name  string       `json:"name"`
			Value remoteObject `json:"value"`
		} `json:"result"`
	}
	err := h.Session.Send(ctx, "Runtime.getProperties", map[string]any{"objectId": list, "ownProperties": true}, &reply)
	if err != nil {
		return nil, gone(err)
	}
	var handles []string
	for _, p := range reply.Result {
		if p.Value.Subtype == "node" {
			handles = append(handles, p.Value.ObjectID)
		}
	}
	return handles, nil
}

var pointerEvents = map[string]bool{"click": true, "mousedown": true, "mouseup": true, "pointerdown": true, "pointerup": true, "dblclick": true, "touchstart": true}

// exploreListeners tells the script which elements listen for pointer events. Each element is looked at once.
func (r *Registry) exploreListeners(ctx context.Context, d *Document) error {
	h := d.Hold()
	defer h.Release()
	backends, err := h.listening(ctx)
	if err != nil {
		return err
	}
	fresh := r.unexplored(d.Generation, backends)
	if len(fresh) == 0 {
		return nil
	}
	pending := make([]*page.Pending, 0, len(fresh))
	for _, backend := range fresh {
		p, err := d.Session.Start(ctx, "DOM.resolveNode", map[string]any{
			"backendNodeId": backend, "executionContextId": d.World, "objectGroup": h.group,
		})
		if err != nil {
			return err
		}
		pending = append(pending, p)
	}
	args := make([]any, 0, len(pending))
	for _, p := range pending {
		var reply struct {
			Object remoteObject `json:"object"`
		}
		if p.Wait(&reply) == nil && reply.Object.ObjectID != "" {
			args = append(args, objectArg(reply.Object.ObjectID))
		}
	}
	if len(args) == 0 {
		return nil
	}
	return d.Call(ctx, nil, "handled", args...)
}

// listening lists the backend nodes of the document with pointer listeners. The browser reports only listeners of
// the world that it is asked in, so it is asked in the page's own.
func (h *Handles) listening(ctx context.Context) ([]int64, error) {
	world, ok := h.Session.MainWorld(h.FrameID)
	if !ok {
		return nil, ErrGone
	}
	var document struct {
		Result remoteObject `json:"result"`
	}
	err := h.Session.Send(ctx, "Runtime.evaluate", map[string]any{
		"expression": "document", "contextId": world, "objectGroup": h.group,
	}, &document)
	if err != nil {
		return nil, gone(err)
	}
	var reply struct {
		Listeners []struct {
			Type    string `json:"type"`
			Backend int64  `json:"backendNodeId"`
		} `json:"listeners"`
	}
	err = h.Session.SendWithin(ctx, AcquireDeadline, "DOMDebugger.getEventListeners", map[string]any{
		"objectId": document.Result.ObjectID, "depth": -1, "pierce": false,
	}, &reply)
	if err != nil {
		return nil, gone(err)
	}
	var backends []int64
	for _, l := range reply.Listeners {
		if pointerEvents[l.Type] && l.Backend != 0 {
			backends = append(backends, l.Backend)
		}
	}
	return backends, nil
}

func (r *Registry) unexplored(generation uint64, backends []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.explored[generation]
	if known == nil {
		known = map[int64]bool{}
		r.explored[generation] = known
	}
	var fresh []int64
	for _, b := range backends {
		if !known[b] && len(fresh) < maxListeners {
			known[b] = true
			fresh = append(fresh, b)
		}
	}
	return fresh
}
