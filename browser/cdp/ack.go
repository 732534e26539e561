package cdp

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/clock"
)

// AckLimit is how long the reply to an acknowledgement may take unless SetAckLimit says otherwise.
const AckLimit = time.Second

// ErrAckUnanswered is the outcome of an acknowledgement without a reply within AckLimit.
var ErrAckUnanswered = errors.New("the acknowledgement was not answered in time")

// AckFrame acknowledges a screencast frame. It is meant for the interceptor: it writes on the calling
// goroutine, ahead of waiting commands, and returns when the write has returned. failed is called at most
// once, later, when the peer refuses the acknowledgement or does not answer within the limit; it must not
// block. The end of the connection does not call it. There is no second attempt: the token is one-shot.
func (c *Client) AckFrame(session string, token int64, failed func(error)) error {
	id := c.nextID.Add(1)
	watch := &ackWatch{failed: failed}
	p := &Pending{client: c, id: id, method: "Page.screencastFrameAck", session: session, notify: func(_ []byte, err error) { watch.settle(err) }}
	watch.mu.Lock()
	watch.timer = c.clock.AfterFunc(time.Duration(c.ackLimit.Load()), func() { p.Abandon(); watch.settle(ErrAckUnanswered) })
	watch.mu.Unlock()
	err := c.register(p)
	if err == nil {
		err = c.write(ackMessage(id, session, token), true)
	}
	if err != nil {
		p.Abandon()
		watch.settle(ErrClosed)
	}
	return err
}

func ackMessage(id int64, session string, token int64) []byte {
	b := make([]byte, 0, 160)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"sessionId":"`...)
	b = append(b, session...)
	b = append(b, `","method":"Page.screencastFrameAck","params":{"sessionId":`...)
	b = strconv.AppendInt(b, token, 10)
	return append(b, `}}`...)
}

// ackWatch settles once, by the reply or by the timer.
type ackWatch struct {
	mu      sync.Mutex
	timer   clock.Timer
	settled bool
	failed  func(error)
}

func (w *ackWatch) settle(err error) {
	w.mu.Lock()
	if w.settled {
		w.mu.Unlock()
		return
	}
	w.settled = true
	w.timer.Stop()
	w.mu.Unlock()
	if err != nil && !errors.Is(err, ErrClosed) {
		w.failed(err)
	}
}
