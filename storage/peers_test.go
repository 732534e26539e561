//go:build unix

package storage_test

import (
	"context"
	"sync/atomic"

	"github.com/krometrail/krometrail/storage/instance"
)

// peers says what it is told to.
type peers struct {
	live, abandoned int
	reaped          atomic.Int32
}

func (p *peers) Live() instance.Count {
	return instance.Count{Live: p.live, Source: instance.Proved, Abandoned: p.abandoned}
}

func (p *peers) Reap(context.Context) int { return int(p.reaped.Add(1)) }
