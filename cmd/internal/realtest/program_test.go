// Package realtest drives the whole program as an agent does, over its protocol and on a real browser, and looks at
// what it recorded of pages with a known defect.
package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/jpeg" // frames
	_ "image/png"  // pictures
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/wire"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/mcp"
	"github.com/krometrail/krometrail/mcp/client"
)

// pagesFolder holds the corpus of pages; it lies beside this module in a checkout.
const pagesFolder = "../../../tools/fixtures/pages"

// program is the running program with the pages it looks at.
type program struct {
	*client.Client
	site *httptest.Server
}

// start runs the program on a folder of its own. It ends with the test.
func start(t testing.TB) *program {
	t.Helper()
	if _, err := os.Stat(pagesFolder); err != nil {
		t.Skip("the fixture pages are not in this tree")
	}
	env := func(name string) (string, bool) {
		if strings.HasPrefix(name, "KROMETRAIL_") {
			return "", false
		}
		return os.LookupEnv(name)
	}
	c, err := config.Load(config.Sources{Flags: map[string]string{"data_dir": t.TempDir()}, Env: env})
	require.NoError(t, err)
	var server *mcp.Server
	app, err := wire.Start(context.Background(), c, []any{&server}, fx.Supply(wire.Env(env)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, app.Stop(context.Background())) })
	connection, err := client.Dial(context.Background(), server)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	site := httptest.NewServer(http.FileServer(http.Dir(pagesFolder)))
	t.Cleanup(site.Close)
	return &program{Client: connection, site: site}
}

type args = map[string]any

// answer is a tool's answer.
type answer struct {
	client.Result
	Envelope struct {
		Status      string                  `json:"status"`
		Result      json.RawMessage         `json:"result"`
		Range       *evidence.ResolvedRange `json:"range"`
		RangeHandle string                  `json:"range_handle"`
		Warnings    []fault.Error           `json:"warnings"`
		Resources   []evidence.Resource     `json:"resources"`
		Error       *fault.Error            `json:"error"`
		Interaction struct {
			ID string `json:"id"`
		} `json:"interaction"`
	}
}

// result decodes the result.
func (a answer) result(t testing.TB, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.Envelope.Result, into), a.Text)
}

// ask calls a tool and keeps its answer and pictures in the folder that KROMETRAIL_TEST_OUT names.
func (p *program) ask(t testing.TB, tool string, arguments args) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	result, err := p.CallTool(ctx, tool, arguments)
	require.NoError(t, err)
	a := answer{Result: result}
	require.NoError(t, json.Unmarshal(result.Structured, &a.Envelope))
	keep(t, tool, result)
	return a
}

// do is ask for what must succeed.
func (p *program) do(t testing.TB, tool string, arguments args) answer {
	t.Helper()
	a := p.ask(t, tool, arguments)
	require.Equal(t, "succeeded", a.Envelope.Status, a.Text)
	return a
}

// keep writes answers for a person to look at.
func keep(t testing.TB, tool string, result client.Result) {
	folder := os.Getenv("KROMETRAIL_TEST_OUT")
	if folder == "" {
		return
	}
	base := filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-")+"-"+tool)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	file, err := os.OpenFile(base+".txt", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = file.WriteString(result.Text + "\n\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for _, i := range result.Images {
		require.NoError(t, os.WriteFile(base+"."+strings.TrimPrefix(i.MediaType, "image/"), i.Data, 0o644))
	}
}

// read returns the content of a resource.
func (p *program) read(t testing.TB, uri string) []byte {
	t.Helper()
	content, err := p.ReadResource(context.Background(), uri)
	require.NoError(t, err)
	return content.Data
}

func decode(t testing.TB, data []byte) image.Image {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return img
}
