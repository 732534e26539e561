package cdp_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type nopWriter struct{ bytes.Buffer }

func (*nopWriter) Close() error { return nil }

// choppy returns its data in pieces of the given sizes.
type choppy struct {
	data  []byte
	sizes []int
}

func (c *choppy) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := min(len(p), len(c.data))
	if len(c.sizes) > 0 {
		n = min(n, c.sizes[0])
		c.sizes = c.sizes[1:]
	}
	copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

// However the bytes arrive, the pipe returns the same messages in the same order.
func TestPipeFramesAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 600), 0, 20).Draw(t, "messages")
		var stream []byte
		for _, m := range messages {
			stream = append(append(stream, m...), 0)
		}
		sizes := rapid.SliceOf(rapid.IntRange(1, 100)).Draw(t, "sizes")
		pipe := cdp.NewPipe(io.NopCloser(&choppy{data: stream, sizes: sizes}), &nopWriter{})
		for _, want := range messages {
			got, err := pipe.Read()
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
		_, err := pipe.Read()
		require.ErrorIs(t, err, io.EOF)
	})
}

func TestAPipeThatEndsInsideAMessage(t *testing.T) {
	pipe := cdp.NewPipe(io.NopCloser(bytes.NewReader([]byte("half"))), &nopWriter{})
	_, err := pipe.Read()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, pipe.Close())
	require.NoError(t, pipe.Close())
}

// oneMessage delivers one message and then ends.
type oneMessage struct {
	message []byte
	read    bool
}

func (o *oneMessage) Read() ([]byte, error) {
	if o.read {
		return nil, io.EOF
	}
	o.read = true
	return o.message, nil
}
func (*oneMessage) Write([]byte) error { return nil }
func (*oneMessage) Close() error       { return nil }

// FuzzMessage checks that no message makes the client panic or hang.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"result":{}}`, `{"id":1,"error":{"code":-1,"message":"x","data":{}}}`, `{"method":"A.b","params":{},"sessionId":"s"}`,
		`{"method":"Target.detachedFromTarget","params":{"sessionId":5}}`, `{"id":"x"}`, "\x00", `{"id":1e99}`,
	} {
		f.Add([]byte(seed))
	}
	f.Add(cdptest.FrameEvent("s", 1, 1, nil))
	f.Fuzz(func(t *testing.T, message []byte) {
		client := cdp.NewClient(&oneMessage{message: message}, clock.System())
		<-client.Done()
		assert.True(t, errors.Is(client.Err(), cdp.ErrClosed))
	})
}
