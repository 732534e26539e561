package transfer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/transfer"
	core "github.com/krometrail/krometrail/core/page"
)

// arrives waits until the downloads after a cursor are at least so many and all have ended.
func arrives(t *testing.T, d *transfer.Downloads, cursor string, count int) []core.Download {
	t.Helper()
	begun := false
	for {
		out, err := d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, Terminal: &begun, TimeoutMS: 30000})
		require.NoError(t, err)
		for _, row := range out.Downloads {
			_, err := d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, DownloadID: row.ID, TimeoutMS: 30000})
			require.NoError(t, err)
		}
		if len(out.Downloads) >= count {
			out, err = d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, TimeoutMS: 30000})
			require.NoError(t, err)
			return out.Downloads
		}
		_, err = d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: out.Cursor, Terminal: &begun, TimeoutMS: 30000})
		require.NoError(t, err, "%d of %d downloads began", len(out.Downloads), count)
	}
}

// save makes the page download an address under a name.
func save(t *testing.T, s *page.Session, address, name string) {
	t.Helper()
	raw, err := json.Marshal([]string{address, name})
	require.NoError(t, err)
	evaluate(t, s, fmt.Sprintf(`{const [href, download] = %s; Object.assign(document.createElement('a'), {href, download}).click()}`, raw))
}

func TestNamesAreHarmlessAndNeverClash(t *testing.T) {
	d, _ := started(t, true)
	s := browsertest.Page(t, files(t).URL+"/")
	cursor := d.DownloadCursor()
	paths := map[string]bool{}
	for i, name := range []string{"same.txt", "same.txt", "../../etc/passwd", `..\..\boot.ini`, "a\u202etxt.exe", ".", strings.Repeat("n", 400) + ".txt"} {
		save(t, s, fmt.Sprintf("data:text/plain,content%d", i), name)
		rows := arrives(t, d, cursor, i+1)
		row := rows[i]
		require.Equal(t, "complete", row.State, name)
		assert.False(t, strings.ContainsAny(row.Name, "/\\\u202e"), row.Name)
		assert.LessOrEqual(t, len([]rune(row.Name)), 120)
		assert.NotContains(t, []string{"", ".", ".."}, row.Name)
		assert.False(t, paths[row.Path], "each download has a file of its own")
		paths[row.Path] = true
		raw, err := os.ReadFile(row.Path)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("content%d", i), string(raw))
		assert.Equal(t, "opaque", row.Source, "the address of a data: download holds its content")
	}
}

func TestADownloadOfBlobAndOfAPopup(t *testing.T) {
	d, _ := started(t, true)
	site := files(t)
	s := browsertest.Page(t, site.URL+"/")
	cursor := d.DownloadCursor()
	evaluate(t, s, `Object.assign(document.createElement('a'), {href: URL.createObjectURL(new Blob(['made here'])), download: 'made.csv'}).click()`)
	row := arrives(t, d, cursor, 1)[0]
	assert.Equal(t, []string{"complete", "made.csv", "text/csv"}, []string{row.State, row.Name, row.MediaType})
	raw, err := os.ReadFile(row.Path)
	require.NoError(t, err)
	assert.Equal(t, "made here", string(raw))
	evaluate(t, s, `window.open('/quick')`)
	row = arrives(t, d, cursor, 2)[1]
	assert.Equal(t, []string{"complete", "report.txt", site.URL}, []string{row.State, row.Name, row.Source})
}

func TestTheThirtyThirdFileIsRefusedWithItsReason(t *testing.T) {
	d, _ := started(t, true)
	site := files(t)
	var s *page.Session
	first := d.DownloadCursor()
	for i := range 32 {
		if i%8 == 0 { // the browser asks its user when one page saves more than ten
			s = browsertest.Page(t, site.URL+"/")
		}
		save(t, s, "data:text/plain,x", fmt.Sprintf("f%d.txt", i))
		arrives(t, d, first, i+1)
	}
	cursor := d.DownloadCursor()
	save(t, s, "data:text/plain,x", "one-more.txt")
	row := arrives(t, d, cursor, 1)[0]
	assert.Equal(t, "failed", row.State)
	assert.Contains(t, row.Reason, "32 downloaded files")
	assert.Empty(t, row.Resource)
	assert.Empty(t, row.Path)
}

func TestAFileAboveTheLimitIsStoppedWithItsReason(t *testing.T) {
	for name, length := range map[string]string{"announced": "67108865", "unannounced": ""} {
		t.Run(name, func(t *testing.T) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					_, _ = w.Write([]byte("<title>large</title>"))
					return
				}
				w.Header().Set("Content-Disposition", `attachment; filename="large.bin"`)
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				chunk := make([]byte, 1<<20)
				for range 65 {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			}))
			t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
			d, _ := started(t, true)
			s := browsertest.Page(t, site.URL+"/")
			cursor := d.DownloadCursor()
			evaluate(t, s, `location.href = '/large'`)
			row := arrives(t, d, cursor, 1)[0]
			assert.Equal(t, "failed", row.State)
			assert.Contains(t, row.Reason, "64 MiB")
			assert.Empty(t, row.Path)
		})
	}
}
