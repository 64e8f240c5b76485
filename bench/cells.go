//go:build linux

package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	direct   = "direct"
	revproxy = "revproxy"
	sidecar  = "gpt-oss-executor"
)

// cell is one measurement.
type cell struct {
	name    string
	targets []string
	reply   *reply
	measure func(context.Context, *reply, *process) (figures, error)
	fresh   bool // start a process for each run
	environ []string
	runs    bool // callers request runs of the executor, which has tools
}

// figures are the results of one run of a cell, by name.
type figures map[string]float64

// others is the figure for the cores that other processes used meanwhile.
const others = "others"

func (f figures) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&b, "  %s %.1f", name, f[name])
	}
	if !f.quiet() {
		b.WriteString("  NOISY")
	}
	return b.String()
}

// quiet reports whether other processes were idle.
func (f figures) quiet() bool { return f[others] <= 0.2 }

// bench is the shared state of all measurements.
type bench struct {
	binary   string // of the sidecar
	span     time.Duration
	patience time.Duration // remaining time for repetitions
	model    *model
	running  map[string]*process
	files    string   // folder of the files and the journal of runs
	flags    []string // further flags of the sidecar
	environ  []string
	anywhere bool // a process may use all CPUs
}

func (b *bench) close() {
	for _, p := range b.running {
		p.end()
	}
	b.model.listener.Close()
}

func (b *bench) cells() []cell {
	both := []string{revproxy, sidecar}
	closed := func(name string,
		r *reply) cell {
		return cell{name: name, targets: both, reply: r, measure: b.closed}
	}
	return []cell{
		closed("text 1 KB", textReply(1<<10, 0)),
		closed("text 8 KB", textReply(8<<10, 0)),
		closed("text 64 KB", textReply(64<<10, 0)),
		closed("call 8 KB", callReply(8<<10)),
		closed("call 64 KB", callReply(64<<10)),
		closed("streamed call 8 KB", callStream(8<<10)),
		closed("streamed call 64 KB", callStream(64<<10)),
		closed("events", textStream(64, 0)),
		{name: "open loop", targets: []string{direct, revproxy, sidecar}, reply: textReply(8<<10, 20*time.Millisecond), measure: b.open},
		{name: "100 connections", targets: both, reply: textReply(8<<10, 0), measure: b.hundred, fresh: true},
		{name: "1000 streams", targets: both, reply: textStream(40, 500*time.Millisecond), measure: b.thousandStreams, fresh: true},
		{name: "10000 streams", targets: both, reply: textStream(60, 5*time.Second), measure: b.tenThousandStreams, fresh: true},
		{name: "memory limit", targets: []string{sidecar}, reply: textStream(60, 5*time.Second), measure: b.limited, fresh: true, environ: []string{"GOMEMLIMIT=" + memoryLimit}},
		{name: "100 runs", targets: both, reply: runReply(0), measure: b.hundredRuns, fresh: true, runs: true},
		{name: "1000 runs", targets: both, reply: runReply(3 * time.Second), measure: b.thousandRuns, fresh: true, runs: true},
	}
}

// run measures a cell. A run on a noisy machine is repeated at most twice while patience lasts, and the
// quietest run counts.
func (b *bench) run(ctx context.Context, c cell, target string) (best figures, err error) {
	for range 3 {
		b.waitForQuiet(ctx)
		began := time.Now()
		f, err := b.once(ctx, c, target)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if best == nil || f[others] < best[others] {
			best = f
		}
		if best.quiet() || b.patience <= 0 {
			break
		}
		b.patience -= time.Since(began)
	}
	return best, nil
}

// waitForQuiet waits at most 8 seconds until other processes are idle.
func (b *bench) waitForQuiet(ctx context.Context) {
	const look = 250 * time.Millisecond
	for i := 0; i < 32 && b.patience > 0 && ctx.Err() == nil; i++ {
		m := startMeter(0)
		time.Sleep(look)
		if _, used := m.stop(); (figures{others: used}).quiet() {
			return
		}
		if b.patience -= look; b.patience <= 0 {
			log.Print("the machine does not get quiet; measuring all the same")
		}
	}
}

func (b *bench) once(ctx context.Context, c cell, target string) (f figures, err error) {
	b.model.reply.Store(c.reply)
	b.environ = c.environ
	p := b.running[target]
	if p == nil || c.fresh {
		if p, err = b.start(ctx, target, c.runs); err != nil {
			return nil, err
		}
	}
	if c.fresh {
		defer p.end()
	} else {
		b.running[target] = p
	}
	m := startMeter(p.pid)
	if f, err = c.measure(ctx, c.reply, p); err == nil {
		_, f[others] = m.stop()
	}
	return f, err
}
