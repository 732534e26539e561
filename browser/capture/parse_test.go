package capture

import (
	"testing"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCutFrame(t *testing.T) {
	message := cdptest.FrameEvent("SESSION", 7, 12.5, []byte{1, 2, 3})
	f, ok := cutFrame(message)
	require.True(t, ok)
	assert.Equal(t, "SESSION", string(f.session))
	assert.EqualValues(t, 7, f.token)
	assert.Equal(t, "AQID", string(f.data))
	var m metadata
	require.NoError(t, cdp.Unmarshal(f.metadata, &m))
	assert.InDelta(t, 12.5, m.Monotonic, 1e-9)
	for _, other := range []string{
		"", `{}`, `{"method":"Page.screencastFrame","params":{"data":"`, `{"method":"Page.screencastFrame","params":{"data":"AA"},"sessionId":"X"}`,
		`{"method":"Page.screencastFrame","params":{"data":"AA","metadata":{},"sessionId":"x"},"sessionId":"X"}`,
		`{"method":"Page.screencastFrame","params":{"data":"AA","metadata":{},"sessionId":1},"sessionId":""}`,
	} {
		_, ok := cutFrame([]byte(other))
		assert.False(t, ok, other)
	}
}

// FuzzCutFrame checks that the fast way never panics and agrees with the general decoder where both accept.
func FuzzCutFrame(f *testing.F) {
	f.Add(cdptest.FrameEvent("S", 1, 1, []byte{9}))
	f.Add([]byte(`{"method":"Page.screencastFrame","params":{"data":"AA","metadata":{"x":{"sessionId":3}},"sessionId":1},"sessionId":"X"}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		frame, ok := cutFrame(message)
		if !ok {
			return
		}
		var general struct {
			Session string `json:"sessionId"`
			Params  struct {
				Data  string `json:"data"`
				Token int64  `json:"sessionId"`
			} `json:"params"`
		}
		if cdp.Unmarshal(message, &general) != nil || general.Params.Data != string(frame.data) {
			return // not JSON, or text that JSON writes in another way
		}
		if general.Params.Token != frame.token && general.Params.Token != 0 {
			t.Errorf("token %d, the general decoder says %d", frame.token, general.Params.Token)
		}
	})
}

// The ledger never loses a loss: whatever happens, every lost ordinal is in exactly one gap's count, gaps are bounded, and
// an ended gap does not end before it began.
func TestLedgerKeepsEveryLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		latest := map[string]record.Gap{}
		l := newLedger("ses_x", "tgt_x", func(g record.Gap) { latest[string(g.ID)] = g })
		reasons := []record.GapReason{record.GapQueueSaturated, record.GapFrameRejected, record.GapHidden, record.GapDisconnected}
		var now clock.SessionTime
		var ordinal, lost uint64
		for range rapid.IntRange(0, 1500).Draw(t, "steps") {
			now += clock.SessionTime(rapid.IntRange(0, 5).Draw(t, "pause"))
			ordinal++
			switch reason := rapid.SampledFrom(reasons).Draw(t, "reason"); rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				lost++
				l.begin(reason, now, ordinal)
			case 1:
				l.good(now)
			case 2:
				l.end(reason, now)
			case 3:
				l.whole(record.GapSystemSuspended, now, now+1)
			}
		}
		l.endAll(now)
		var counted uint64
		for _, g := range latest {
			counted += g.Count
			require.NotNil(t, g.EndNS)
			require.GreaterOrEqual(t, *g.EndNS, g.StartNS)
		}
		require.Equal(t, lost, counted)
		require.LessOrEqual(t, len(latest), MaxGaps+1)
		require.Equal(t, len(latest), len(l.gaps))
	})
}
