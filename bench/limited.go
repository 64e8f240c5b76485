//go:build linux

package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// memoryLimit is the GOMEMLIMIT of a sidecar with more streams than fit.
const memoryLimit = "150MiB"

// limited opens 5,000 streams through a sidecar with too little memory: how many are admitted, whether they
// continue, and how much memory they take. After all have left, it must admit others.
func (b *bench) limited(ctx context.Context, _ *reply, p *process) (figures, error) {
	pause(ctx, time.Second)
	f := figures{}
	var in, refused, broken atomic.Int64
	var leaving atomic.Bool
	var callers sync.WaitGroup
	var conns []net.Conn
	for i := range 5000 {
		c, err := dial(p.address, true)
		if err != nil {
			return nil, err
		}
		c.waits = 4 * patience
		conns = append(conns, c.conn)
		callers.Go(func() {
			in.Add(1)
			switch err := c.ask(); {
			case err != nil && strings.Contains(err.Error(), "503"):
				in.Add(-1)
				refused.Add(1)
			case !leaving.Load() || !bytes.Contains(c.body.Bytes(), []byte(mark)):
				broken.Add(1)
			}
		})
		if i%5 == 4 {
			pause(ctx, 5*time.Millisecond)
			f["whole"] = max(f["whole"], resident(p.pid))
		}
	}
	for range 16 {
		pause(ctx, 500*time.Millisecond)
		f["whole"] = max(f["whole"], resident(p.pid))
	}
	f["let in"], f["refused"] = float64(in.Load()), float64(refused.Load())
	leaving.Store(true)
	for _, conn := range conns {
		conn.Close()
	}
	callers.Wait()
	b.emptied(ctx)
	f["broken"] = float64(broken.Load())
	for range 30 { // reading its metrics makes it check
		if pause(ctx, 500*time.Millisecond); readMetric(p.address, "gptoss_executor_load_shedding") == 0 {
			break
		}
	}
	s, err := openStreams(ctx, p, 100)
	if err != nil {
		return nil, err
	}
	pause(ctx, 6*time.Second) // the first mark takes 5
	f["later"] = readMetric(p.address, "gptoss_executor_open_streams")
	return f, s.leave()
}
