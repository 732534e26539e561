package observe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/krometrail/krometrail/browser/cdp"
)

// The tap runs on the connection's reading goroutine: asking what was under way before must not hold it up, or it would
// hold up the acknowledgements of frames.
func TestTheTapGoesOnWhileEarlierRequestsAreAskedFor(t *testing.T) {
	watched := &traffic{flying: map[string]bool{}}
	watched.earlier = func() []string {
		watched.on(cdp.Event{Method: "Network.requestWillBeSent", Params: []byte(`{"requestId":"new","type":"Fetch"}`), Received: time.Second})
		return []string{"old"}
	}
	watched.begin()
	flying, quiet := watched.state(2 * time.Second)
	assert.Equal(t, 2, flying)
	assert.Zero(t, quiet)

	watched.earlier = func() []string { return nil }
	watched.on(cdp.Event{Method: "Network.loadingFinished", Params: []byte(`{"requestId":"new"}`), Received: 3 * time.Second})
	_, quiet = watched.state(5 * time.Second)
	assert.Zero(t, quiet, "the old one has ended just now")
	flying, quiet = watched.state(6 * time.Second)
	assert.Zero(t, flying)
	assert.Equal(t, time.Second, quiet)
}
