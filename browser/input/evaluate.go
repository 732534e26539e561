package input

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// maxValue bounds an evaluation's result in bytes.
const maxValue = 1 << 20

// evaluation is the reply to a script that was run.
type evaluation struct {
	Result struct {
		Type   string          `json:"type"`
		Value  json.RawMessage `json:"value"`
		Number string          `json:"unserializableValue"`
	} `json:"result"`
	Exception *struct {
		Text      string `json:"text"`
		Line      int    `json:"lineNumber"`
		Exception struct {
			ClassName string `json:"className"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

func prepareEvaluate(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.EvaluateRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"bytes": len(r.Expression), "args": len(r.Args), "read_only": r.ReadOnly, "await_promise": r.Await(), "timeout_ms": r.TimeoutMS}
	s, frame, err := d.scriptFrame(c, r)
	if err != nil {
		return err
	}
	world, ok := s.MainWorld(frame)
	if !ok {
		if open, _ := s.Dialog(); open != nil {
			return fault.New(fault.DialogOpen, "a dialog (%s) is open and blocks the page", open.Type).WithRecovery("handle_dialog first")
		}
		return fault.New(fault.PageObservationFailed, "the page is navigating and has no script world yet").WithRecovery("wait navigation=complete, then try again")
	}
	args, release, err := d.scriptArgs(ctx, c, s, world, r)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		defer release()
		end := s.Observing("evaluate")
		defer end()
		sending()
		return evaluate(ctx, s, world, r, args)
	}
	return nil
}

func (d *Driver) scriptFrame(c *call, r *core.EvaluateRequest) (*page.Session, string, error) {
	if r.Frames == "" {
		return c.session, "", nil
	}
	return d.Snapshots.FrameOf(c.session, id.DocumentFrame(r.Frames))
}

// scriptArgs hands nodes of references over into the main world; release frees their handles.
func (d *Driver) scriptArgs(ctx context.Context, c *call, s *page.Session, world int64, r *core.EvaluateRequest) (args []any, release func(), err error) {
	var held []*snapshot.Handles
	release = func() {
		for _, h := range held {
			h.Release()
		}
	}
	args = []any{}
	for _, a := range r.Args {
		if a.Ref == "" {
			args = append(args, map[string]any{"value": a.Value})
			continue
		}
		l, err := d.Snapshots.Locate(ctx, c.session, core.Element{Ref: a.Ref})
		if err != nil {
			release()
			return nil, nil, err
		}
		h := l.Document.Hold()
		held = append(held, h)
		handle, err := h.In(ctx, l.Node, s, world)
		if err != nil {
			release()
			return nil, nil, snapshot.Failure(err, l.Document)
		}
		args = append(args, map[string]any{"objectId": handle})
	}
	return args, release, nil
}

func evaluate(ctx context.Context, s *page.Session, world int64, r *core.EvaluateRequest, args []any) (any, error) {
	limit := time.Duration(r.TimeoutMS) * time.Millisecond
	var reply evaluation
	var err error
	if len(args) > 0 || isFunction(r.Expression) {
		err = callFunction(ctx, s, world, r, args, limit, &reply)
	} else {
		err = s.SendWithin(ctx, limit, "Runtime.evaluate", map[string]any{
			"expression": r.Expression, "contextId": world, "returnByValue": true, "awaitPromise": r.Await(), "throwOnSideEffect": r.ReadOnly,
			"userGesture": !r.ReadOnly, "replMode": false, "allowUnsafeEvalBlockedByCSP": true,
		}, &reply)
	}
	if err != nil {
		return nil, evaluationFault(err, r)
	}
	return evaluated(reply, r)
}

// callFunction applies the function to the arguments. read_only wraps it: only evaluations know that mode.
func callFunction(ctx context.Context, s *page.Session, world int64, r *core.EvaluateRequest, args []any, limit time.Duration, reply *evaluation) error {
	if r.ReadOnly {
		if len(args) > 0 {
			return fault.Input("args", "read_only takes an expression without args")
		}
		return s.SendWithin(ctx, limit, "Runtime.evaluate", map[string]any{
			"expression": "(" + r.Expression + ")()", "contextId": world, "returnByValue": true, "awaitPromise": r.Await(), "throwOnSideEffect": true,
		}, reply)
	}
	return s.SendWithin(ctx, limit, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": r.Expression, "executionContextId": world, "arguments": args, "returnByValue": true,
		"awaitPromise": r.Await(), "userGesture": true,
	}, reply)
}

// isFunction recognises function expressions by how they begin.
func isFunction(expression string) bool {
	text := strings.TrimSpace(expression)
	for _, head := range []string{"function(", "function (", "async function", "function*", "async (", "async("} {
		if strings.HasPrefix(text, head) {
			return !strings.HasSuffix(text, ")")
		}
	}
	if strings.HasPrefix(text, "function ") {
		return !strings.HasSuffix(text, ")")
	}
	return arrow(text)
}

// arrow recognises (a, b) => … and a => … at the head of the text.
func arrow(text string) bool {
	at := strings.Index(text, "=>")
	if at <= 0 {
		return false
	}
	head := strings.TrimSpace(text[:at])
	if strings.HasPrefix(head, "(") && strings.HasSuffix(head, ")") {
		return !strings.ContainsAny(head[1:len(head)-1], "()")
	}
	for _, r := range head {
		if !(r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	return true
}

func evaluationFault(err error, r *core.EvaluateRequest) error {
	var refusal *cdp.Error
	switch {
	case fault.CodeOf(err) == fault.PageUnresponsive:
		return fault.New(fault.EvaluationFailed, "the script did not end within %d ms", r.TimeoutMS).
			WithRecovery("raise timeout_ms, or await_promise=false; the script may still be running").Because(err)
	case errors.As(err, &refusal):
		return fault.New(fault.EvaluationFailed, "the script's value cannot be returned, or its document went away").
			WithRecovery("return JSON data: no nodes, functions or circular structures").Because(err)
	}
	return err
}

func evaluated(reply evaluation, r *core.EvaluateRequest) (any, error) {
	if reply.Exception != nil {
		return nil, scriptFault(reply, r)
	}
	value := reply.Result.Value
	switch {
	case reply.Result.Type == "undefined":
		return core.EvaluateResult{Undefined: true}, nil
	case reply.Result.Number != "":
		value, _ = json.Marshal(reply.Result.Number)
	case len(value) == 0:
		value = json.RawMessage("null")
	}
	if len(value) > maxValue {
		return nil, fault.New(fault.ResourceLimitExceeded, "the script's result is too large").
			WithLimit("result_bytes", int64(len(value)), maxValue, maxValue).WithRecovery("return less, for example a slice or a count")
	}
	return core.EvaluateResult{Value: value}, nil
}

// scriptFault names the class of the exception; its message is page text and stays out.
func scriptFault(reply evaluation, r *core.EvaluateRequest) error {
	class := className(reply.Exception.Exception.ClassName)
	if r.ReadOnly && class == "EvalError" {
		return fault.New(fault.EvaluationFailed, "the engine refused the script: it may have side effects").
			WithRecovery("call without read_only if the page may be changed")
	}
	return fault.New(fault.EvaluationFailed, "the script threw %s at line %d", class, reply.Exception.Line+1).
		WithRecovery("correct the script; query_browser_events shows the page's own exceptions")
}

// className keeps names of exception classes and nothing that a page could have put there.
func className(class string) string {
	switch class {
	case "Error", "TypeError", "ReferenceError", "SyntaxError", "RangeError", "EvalError", "URIError", "AggregateError", "DOMException":
		return class
	}
	return "an exception"
}
