package redact_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/redact"
)

type row struct {
	group, in, want string
	line            int
}

func corpus(t testing.TB) []row {
	t.Helper()
	file, err := os.Open("testdata/corpus.txt")
	require.NoError(t, err)
	defer file.Close()
	var rows []row
	group, pending := "", ""
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		text := scanner.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		body := unescape(strings.TrimPrefix(text[1:], " "))
		switch text[0] {
		case '=':
			group = body
		case '-':
			pending = body
		case '+':
			rows = append(rows, row{group, pending, body, line})
		case '~':
			rows = append(rows, row{group, body, body, line})
		default:
			t.Fatalf("corpus line %d begins with %q", line, text[0])
		}
	}
	require.NoError(t, scanner.Err())
	return rows
}

func unescape(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(s)
}

func TestCorpus(t *testing.T) {
	rows := corpus(t)
	require.Greater(t, len(rows), 100)
	for _, r := range rows {
		assert.Equal(t, r.want, redact.Text(r.in, 2048), "corpus line %d (%s): %s", r.line, r.group, r.in)
	}
}

// A shape is recognised wherever it stands, not only at the beginning of a text.
func TestCorpusInsideSentences(t *testing.T) {
	for _, r := range corpus(t) {
		if r.in == r.want {
			continue
		}
		got := redact.Text("before "+r.in, 2048)
		assert.Equal(t, "before "+r.want, got, "corpus line %d", r.line)
	}
}
