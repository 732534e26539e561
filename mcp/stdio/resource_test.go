package stdio

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
)

func readThing(_ context.Context, read mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	switch name := strings.TrimPrefix(read.Params.URI, "test://thing/"); name {
	case "here":
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: read.Params.URI, MIMEType: "text/plain", Text: "a < b"}}, nil
	case "gone":
		return nil, fault.New(fault.EvidenceInvalidated, "the session was deleted").WithRecovery("record again")
	case "panic":
		panic("secret text")
	default:
		return nil, errors.New("secret text")
	}
}

func TestResourceReads(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		r := w.ask(call(version, "1", "resources/read", `"uri":"test://thing/here"`))
		require.Nil(t, r.Error)
		assert.Contains(t, string(r.Result), `"text":"a < b"`)
		if version == v26 {
			assert.Equal(t, "private", field[string](t, r.Result, "cacheScope"))
			assert.Contains(t, string(r.Result), `"ttlMs":0`)
		} else {
			assert.NotContains(t, string(r.Result), "ttlMs")
		}

		absent := -32002
		if version == v26 {
			absent = -32602
		}
		for _, uri := range []string{"other://thing", "test://thing/gone", "not a uri"} {
			r = w.wantError(call(version, "2", "resources/read", `"uri":"`+uri+`"`), absent)
			assert.Equal(t, uri, r.Error.Data["uri"])
		}
		r = w.wantError(call(version, "3", "resources/read", `"uri":"test://thing/gone"`), absent)
		assert.Equal(t, "evidence_invalidated", r.Error.Data["code"])
		assert.Equal(t, "record again", r.Error.Data["recovery"])

		for _, uri := range []string{"test://thing/broken", "test://thing/panic"} {
			w.send(call(version, "4", "resources/read", `"uri":"`+uri+`"`))
			line := w.line()
			if version != v26 {
				assert.Contains(t, line, `"notifications/message"`) // errors are what a legacy client hears of unasked
				line = w.line()
			}
			assert.Contains(t, line, `"code":-32603`)
			assert.Contains(t, line, `"correlation_id"`)
			assert.NotContains(t, line, "secret")
		}
		w.wantError(call(version, "5", "resources/read", ""), -32602)
		w.wantError(call(version, "5", "resources/read", `"uri":5`), -32602)
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestResourceLists(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		r := w.ask(call(version, "1", "resources/list", ""))
		assert.Contains(t, string(r.Result), `"resources":[]`)
		templates := w.ask(call(version, "2", "resources/templates/list", ""))
		assert.Contains(t, string(templates.Result), `"uriTemplate":"test://thing/{id}"`)
		if version == v26 {
			assert.Contains(t, string(r.Result), `"ttlMs":0`)
			assert.Contains(t, string(templates.Result), `"ttlMs":60000`)
		} else {
			assert.NotContains(t, string(r.Result)+string(templates.Result), "ttlMs")
		}
		w.wantError(call(version, "3", "resources/list", `"cursor":""`), -32602)
		w.wantError(call(version, "3", "resources/templates/list", `"cursor":"x"`), -32602)
		_, err := w.close()
		require.NoError(t, err)
	})
}
