package storage

import "context"

// janitor removes abandoned roots of other processes when an operation noticed some. Deleting gigabytes takes
// seconds, which no append should wait for.
type janitor struct {
	peers  Peers
	wake   chan struct{}
	done   chan struct{}
	cancel context.CancelFunc
}

func startJanitor(peers Peers) *janitor {
	ctx, cancel := context.WithCancel(context.Background())
	j := &janitor{peers: peers, wake: make(chan struct{}, 1), done: make(chan struct{}), cancel: cancel}
	go j.run(ctx)
	return j
}

func (j *janitor) run(ctx context.Context) {
	defer close(j.done)
	for {
		select {
		case <-j.wake:
			j.peers.Reap(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// notice asks for one more round; it never waits.
func (j *janitor) notice() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (j *janitor) close() {
	j.cancel()
	<-j.done
}
