//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// thousandStreams measures the memory of a new process with 1,000 open streams. Then all callers leave,
// which the model server must notice.
func (b *bench) thousandStreams(ctx context.Context, _ *reply, p *process) (figures, error) {
	pause(ctx, time.Second)
	before, ended := resident(p.pid), b.model.ended.Load()
	s, err := openStreams(ctx, p, 1000)
	if err != nil {
		return nil, err
	}
	most := 0.0
	for range 12 {
		pause(ctx, 250*time.Millisecond)
		most = max(most, resident(p.pid))
	}
	err = s.leave()
	b.emptied(ctx)
	aborts := float64(b.model.ended.Load() - ended)
	return figures{"added": most - before, "whole": most, "aborts": aborts}, err
}

// tenThousandStreams measures 10,000 open streams in a new process: memory and goroutines of each, the CPU
// to open one, and the CPU of an event while all are open.
func (b *bench) tenThousandStreams(ctx context.Context, _ *reply, p *process) (figures, error) {
	n := fitting(10000)
	pause(ctx, time.Second)
	before, ended, threads := resident(p.pid), b.model.ended.Load(), goroutines(p.address)
	opening := startMeter(p.pid)
	s, err := openStreams(ctx, p, n)
	if err != nil {
		return nil, err
	}
	pause(ctx, 2*time.Second)
	opened, _ := opening.stop()
	f := figures{"streams": float64(n), "cpu a stream": float64(opened.Microseconds()) / float64(n)}
	steady, written := startMeter(p.pid), b.model.wrote.Load()
	for range 20 {
		pause(ctx, 500*time.Millisecond)
		f["whole"] = max(f["whole"], resident(p.pid))
	}
	took, _ := steady.stop()
	f["cpu an event"] = float64(took.Microseconds()) / max(1, float64(b.model.wrote.Load()-written))
	f["goroutines"] = (goroutines(p.address) - threads) / float64(n)
	f["each"] = (f["whole"] - before) * 1024 / float64(n)
	err = s.leave()
	b.emptied(ctx)
	f["aborts"] = float64(b.model.ended.Load() - ended)
	return f, err
}

// spare is the number of descriptors that a process needs besides those of streams.
const spare = 100

// fitting returns how many of n streams the limit of descriptors allows, and prints a note if there are
// fewer: a proxy needs two each, and so does this program.
func fitting(n int) int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil { // Go has raised it to the hard limit
		return n
	}
	most := fits(n, limit.Cur)
	if most < n {
		log.Printf("the hard limit of descriptors is %d, so %d streams are opened and not %d, which need %d; raise it with ulimit -Hn, or LimitNOFILE= of the unit", limit.Cur, most, n, 2*n+spare)
	}
	return most
}

func fits(n int, limit uint64) int { return max(0, min(n, (int(min(limit, math.MaxInt32))-spare)/2)) }

// streams are open streams of callers.
type streams struct {
	load
	conns []net.Conn
}

// openStreams opens n of them, a thousand per second. Each must send an event.
func openStreams(ctx context.Context, p *process, n int) (*streams, error) {
	s := &streams{}
	for i := range n {
		c, err := dial(p.address, true)
		if err != nil {
			return nil, err
		}
		c.waits = 4 * patience
		s.conns = append(s.conns, c.conn)
		s.callers.Go(func() {
			if err := c.ask(); !bytes.Contains(c.body.Bytes(), []byte(mark)) {
				s.fail(fmt.Errorf("no event has arrived: %w", err))
			}
		})
		if i%5 == 4 {
			pause(ctx, 5*time.Millisecond)
		}
	}
	return s, nil
}

// leave closes all of them.
func (s *streams) leave() error {
	for _, conn := range s.conns {
		conn.Close()
	}
	return s.end()
}

// emptied waits at most 3 seconds until the model server has noticed.
func (b *bench) emptied(ctx context.Context) {
	for i := 0; i < 30 && b.model.open.Load() > 0; i++ {
		pause(ctx, 100*time.Millisecond)
	}
}

// goroutines returns the number of goroutines of a proxy.
func goroutines(address string) float64 { return readMetric(address, "go_goroutines") }

// readMetric returns a metric of a proxy; 0: missing.
func readMetric(address, metric string) float64 {
	res, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, metric+" "); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return n
		}
	}
	return 0
}
