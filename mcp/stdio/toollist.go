package stdio

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxPageTools and maxPageBytes bound one modern tools/list result.
	maxPageTools = 8
	maxPageBytes = 192 << 10
)

// toolPages is the whole catalogue, encoded once: tools never change while the process lives.
type toolPages struct {
	legacy json.RawMessage
	first  json.RawMessage
	// later holds the other pages by their cursor.
	later map[string]json.RawMessage
	// tooLarge names the descriptor that fits no page, "" when all do: then there are no modern pages.
	tooLarge string
}

type toolPage struct {
	mcp.CacheableResult
	Tools      []descriptor `json:"tools"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

// encodePage encodes the frame of a page and puts the tools into it as they are: they are encoded already, and
// together they are large.
func encodePage(stamp mcp.CacheableResult, tools []descriptor, next string) (json.RawMessage, error) {
	frame, err := encode(toolPage{CacheableResult: stamp, Tools: []descriptor{}, NextCursor: next})
	if err != nil {
		return nil, err
	}
	const empty = `"tools":[` // cannot occur inside a JSON string, where quotes are escaped
	at := bytes.Index(frame, []byte(empty)) + len(empty)
	size := len(frame) + len(tools)
	for _, t := range tools {
		size += len(t.text)
	}
	page := append(make(json.RawMessage, 0, size), frame[:at]...)
	for i, t := range tools {
		if i > 0 {
			page = append(page, ',')
		}
		page = append(page, t.text...)
	}
	return append(page, frame[at:]...), nil
}

type descriptor struct {
	name string
	text json.RawMessage
}

// list asks the library for the catalogue once and encodes every answer there will be. A legacy answer is the
// tools alone; a modern one carries the library's stamps.
func (l *Loop) list() error {
	modern, err := newConn(context.Background(), l, nil).libraryTools()
	if err != nil {
		return err
	}
	if modern.Meta != nil {
		l.info = modern.Meta.ServerInfo()
	}
	tools, err := describe(modern.Tools)
	if err != nil {
		return err
	}
	l.tools = &toolPages{}
	if l.tools.legacy, err = encodePage(mcp.CacheableResult{}, tools, ""); err != nil {
		return err
	}
	return l.tools.paginate(modern.CacheableResult, tools, l.limits.page)
}

func (c *conn) libraryTools() (mcp.ListToolsResult, error) {
	meta := object{"_meta": json.RawMessage(`{"` + mcp.MetaKeyProtocolVersion + `":"` + modernVersion + `","` + mcp.MetaKeyClientCapabilities + `":{}}`)}
	r := &request{method: string(mcp.MethodToolsList), label: string(mcp.MethodToolsList), era: era{version: modernVersion, modern: true}}
	result, failure := c.handle(context.Background(), r, meta)
	if failure != nil {
		return mcp.ListToolsResult{}, failure
	}
	listed, ok := result.(mcp.ListToolsResult)
	if !ok {
		return listed, errors.New("the protocol library answered tools/list with another type")
	}
	return listed, nil
}

func describe(tools []mcp.Tool) ([]descriptor, error) {
	all := make([]descriptor, 0, len(tools))
	for _, tool := range tools {
		text, err := encode(tool)
		if err != nil {
			return nil, err
		}
		all = append(all, descriptor{tool.Name, text})
	}
	slices.SortFunc(all, func(a, b descriptor) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// paginate fills pages from the front and names each later page by its cursor.
func (p *toolPages) paginate(stamp mcp.CacheableResult, tools []descriptor, limit int) error {
	frame, err := encodePage(stamp, nil, cursorOf(nil, nil, 0))
	if err != nil {
		return err
	}
	starts, tooLarge := split(tools, limit-len(frame))
	if tooLarge != "" {
		p.tooLarge = tooLarge
		return nil
	}
	process, digest := processPart(), catalogueDigest(tools)
	p.later = map[string]json.RawMessage{}
	for i, start := range starts {
		end, next := len(tools), ""
		if i+1 < len(starts) {
			end, next = starts[i+1], cursorOf(process, digest, starts[i+1])
		}
		page, err := encodePage(stamp, tools[start:end], next)
		if err != nil {
			return err
		}
		if i == 0 {
			p.first = page
		} else {
			p.later[cursorOf(process, digest, start)] = page
		}
	}
	return nil
}

// split returns where pages begin. room is what descriptors and the commas after them may take on a page.
func split(tools []descriptor, room int) (starts []int, tooLarge string) {
	starts = []int{0}
	count, used := 0, 0
	for i, t := range tools {
		size := len(t.text) + 1
		if size > room {
			return nil, t.name
		}
		if count == maxPageTools || used+size > room {
			starts = append(starts, i)
			count, used = 0, 0
		}
		count, used = count+1, used+size
	}
	return starts, ""
}

const cursorPart = 8

func processPart() []byte {
	part := make([]byte, cursorPart)
	// crypto/rand.Read never fails.
	_, _ = rand.Read(part)
	return part
}

func catalogueDigest(tools []descriptor) []byte {
	sum := sha256.New()
	for _, t := range tools {
		sum.Write(t.text)
		sum.Write([]byte{'\n'})
	}
	return sum.Sum(nil)[:cursorPart]
}

// cursorOf joins the process, the catalogue and the index of the page's first tool. All cursors are equally long.
func cursorOf(process, digest []byte, start int) string {
	raw := make([]byte, 2*cursorPart+4)
	copy(raw, process)
	copy(raw[cursorPart:], digest)
	binary.BigEndian.PutUint32(raw[2*cursorPart:], uint32(start))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// listTools answers from the encoded pages.
func (c *conn) listTools(_ context.Context, r *request) (json.RawMessage, *rpcError) {
	pages := c.loop.tools
	switch {
	case !r.era.modern && r.params.has("cursor"):
		return nil, newError(codeInvalidParams, "the cursor is not valid: protocol version %s lists all tools at once; ask again without a cursor", r.era.version)
	case !r.era.modern:
		return pages.legacy, nil
	case pages.tooLarge != "":
		return nil, newError(codeInternal, "the descriptor of tool %s is larger than a page of %d bytes", pages.tooLarge, c.loop.limits.page).
			with(map[string]string{"tool": pages.tooLarge})
	case !r.params.has("cursor"):
		return pages.first, nil
	}
	cursor, _ := r.params.text("cursor")
	page, ok := pages.later[cursor]
	if !ok {
		return nil, newError(codeInvalidParams, "the cursor is not valid in this process; start the listing again without a cursor")
	}
	return page, nil
}
