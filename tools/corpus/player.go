package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// player plays cases one after the other on one session of the program.
type player struct {
	session *mcp.ClientSession
	// values are what $NAME stands for.
	values map[string]string
	last   answer
}

// answer is what a tool said.
type answer struct {
	text    string
	content map[string]any
	raw     []byte
	failed  bool
	images  [][]byte
}

func (p *player) play(ctx context.Context, c testcase) error {
	fixed := map[string]string{"URL": p.values["URL"], "TMP": p.values["TMP"]}
	p.values = fixed
	p.last = answer{}
	var opened []string
	defer func() { p.cleanUp(ctx, opened) }()
	for _, s := range c.steps {
		err := p.step(ctx, s)
		if target, ok := p.values["PAGE"]; ok && s.verb == "open" {
			opened = append(opened, target)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	return nil
}

// cleanUp closes what a case has opened. Errors are of no interest: a case may have closed its page itself.
func (p *player) cleanUp(ctx context.Context, opened []string) {
	for _, target := range opened {
		arguments, _ := json.Marshal(map[string]string{"action": "accept", "target": target})
		_, _ = p.call(ctx, "handle_dialog", arguments)
		arguments, _ = json.Marshal(map[string]string{"target": target})
		_, _ = p.call(ctx, "close_page", arguments)
	}
}

func (p *player) step(ctx context.Context, s step) error {
	switch s.verb {
	case "open":
		return p.open(ctx, s.operand)
	case "ref":
		return p.reference(ctx, s.operand)
	case "result":
		return p.result(ctx, s.operand)
	case "text":
		return expect(strings.Contains(p.last.text, p.expand(s.operand)), "the text lacks %q:\n%s", s.operand, p.last.text)
	case "notext":
		return expect(!strings.Contains(p.last.text, p.expand(s.operand)), "the text holds %q:\n%s", s.operand, p.last.text)
	case "seen":
		return p.seen(ctx, s.operand)
	case "picture":
		return p.picture(s.operand)
	case "smaller":
		limit, err := strconv.Atoi(s.operand)
		if err != nil {
			return err
		}
		return expect(len(p.last.text) < limit, "the text has %d bytes", len(p.last.text))
	default:
		return p.callStep(ctx, s)
	}
}

func expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func (p *player) open(ctx context.Context, path string) error {
	arguments, err := json.Marshal(map[string]string{"url": p.values["URL"] + path})
	if err != nil {
		return err
	}
	a, err := p.must(ctx, "open_page", arguments)
	if err != nil {
		return err
	}
	target, err := a.value("interaction.target_id")
	p.values["PAGE"] = target
	return err
}

// result waits in the page, so that nothing but the case's own calls is recorded meanwhile.
func (p *player) result(ctx context.Context, prefix string) error {
	expression := `new Promise(done => {
  const end = performance.now() + 5000, look = () => {
    const text = document.querySelector('#result')?.textContent ?? 'no #result';
    if (text.startsWith(` + strconv.Quote(prefix) + `) || performance.now() > end) done(text); else setTimeout(look, 25);
  };
  look();
})`
	arguments, err := json.Marshal(map[string]any{"expression": expression, "timeout_ms": 8000})
	if err != nil {
		return err
	}
	kept := p.last
	a, err := p.must(ctx, "evaluate", arguments)
	p.last = kept
	if err != nil {
		return err
	}
	text, err := a.value("result.value")
	if err != nil {
		return err
	}
	return expect(strings.HasPrefix(text, prefix), "the page says %q, not %q", text, prefix)
}

// snapshot is the part of a snapshot's structured content that a reference is looked up in.
type snapshot struct {
	Result struct {
		Frames []struct {
			Nodes []struct{ Name, Ref string }
		}
	}
}

func (p *player) reference(ctx context.Context, operand string) error {
	keep, name, _ := strings.Cut(operand, " ")
	a, err := p.must(ctx, "snapshot_page", []byte(`{"detail":"full"}`))
	if err != nil {
		return err
	}
	var taken snapshot
	if err := json.Unmarshal(a.raw, &taken); err != nil {
		return err
	}
	for _, frame := range taken.Result.Frames {
		for _, node := range frame.Nodes {
			if node.Name == name && node.Ref != "" {
				p.values[keep] = node.Ref
				return nil
			}
		}
	}
	return fmt.Errorf("no target is named %q:\n%s", name, a.text)
}

func (p *player) callStep(ctx context.Context, s step) error {
	a, err := p.call(ctx, s.tool, []byte(p.expand(s.object())))
	if err != nil {
		return err
	}
	p.last = a
	if s.code != "" {
		code, _ := a.value("error.code")
		return expect(a.failed && code == s.code, "expected %s, got: %s", s.code, a.text)
	}
	if a.failed {
		return errors.New(a.text)
	}
	if s.keep != "" {
		p.values[s.keep], err = a.value(s.path)
	}
	return err
}

func (p *player) must(ctx context.Context, tool string, arguments []byte) (answer, error) {
	a, err := p.call(ctx, tool, arguments)
	if err == nil && a.failed {
		err = errors.New(a.text)
	}
	return a, err
}

func (p *player) call(ctx context.Context, tool string, arguments []byte) (answer, error) {
	result, err := p.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", tool, err)
	}
	a := answer{failed: result.IsError}
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			a.text += c.Text
		case *mcp.ImageContent:
			a.images = append(a.images, c.Data)
		}
	}
	if a.raw, err = json.Marshal(result.StructuredContent); err != nil {
		return a, err
	}
	return a, json.Unmarshal(a.raw, &a.content)
}

// expand puts the kept values in place of $NAME; what is not a kept name stays as it is.
func (p *player) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if value, ok := p.values[found[1:]]; ok {
			return value
		}
		return found
	})
}

// value follows a path of field names and indexes through the structured content and returns it as text. An interaction's
// own result stands one level deeper, beside its observation; a path need not say so.
func (a answer) value(path string) (string, error) {
	text, err := a.follow(path)
	if rest, ok := strings.CutPrefix(path, "result."); ok && err != nil {
		if deeper, again := a.follow("result.action." + rest); again == nil {
			return deeper, nil
		}
	}
	return text, err
}

func (a answer) follow(path string) (string, error) {
	var at any = a.content
	for name := range strings.SplitSeq(path, ".") {
		switch x := at.(type) {
		case map[string]any:
			at = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return "", fmt.Errorf("no %s in %s", path, a.raw)
			}
			at = x[i]
		default:
			return "", fmt.Errorf("no %s in %s", path, a.raw)
		}
	}
	switch x := at.(type) {
	case string:
		return x, nil
	case nil:
		return "", fmt.Errorf("no %s in %s", path, a.raw)
	default:
		text, err := json.Marshal(x)
		return string(text), err
	}
}
