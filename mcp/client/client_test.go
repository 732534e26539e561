package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a server that answers the nth line with the nth text.
type script struct {
	answers []string
	end     error
}

func (s script) Serve(_ context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for i := 0; lines.Scan(); i++ {
		if i < len(s.answers) && s.answers[i] != "" {
			if _, err := fmt.Fprintln(out, s.answers[i]); err != nil {
				return err
			}
		}
	}
	return s.end
}

func TestDialRefusesAnotherVersion(t *testing.T) {
	_, err := Dial(t.Context(), script{answers: []string{`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`}}, WithVersion("2025-06-18"))
	require.ErrorContains(t, err, "the server speaks 2025-11-25, not 2025-06-18")
}

func TestErrorsOfTheServer(t *testing.T) {
	c, err := Dial(t.Context(), script{
		answers: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"a":1}}}`},
		end:     errors.New("left something behind"),
	})
	require.NoError(t, err)
	_, err = c.CallTool(t.Context(), "x", nil)
	var refused *Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, -32602, refused.Code)
	assert.JSONEq(t, `{"a":1}`, string(refused.Data))
	require.EqualError(t, c.Close(), "left something behind")
}

func TestNoiseIsIgnoredAndNotificationsArePassedOn(t *testing.T) {
	var heard []string
	c, err := Dial(t.Context(), script{answers: []string{
		"nonsense\n\n" + `{"jsonrpc":"2.0","id":77,"result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a","text":"b"}]}}`,
	}}, WithNotifications(func(n Notification) { heard = append(heard, n.Method) }))
	require.NoError(t, err)
	read, err := c.ReadResource(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, Contents{URI: "a", Data: []byte("b")}, read)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"notifications/message"}, heard)
}

// gone ends at once, as a server that crashed.
type gone struct{}

func (gone) Serve(context.Context, io.Reader, io.Writer) error { return nil }

func TestAServerThatIsGone(t *testing.T) {
	c, err := Dial(t.Context(), gone{})
	require.NoError(t, err)
	_, err = c.ListTools(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}
