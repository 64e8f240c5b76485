package service

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// StartPercent is the GC percentage before Tune: a start allocates 14 MB once, and collecting meanwhile
// would take a third of its CPU.
const StartPercent = 400

const (
	// Garbage may reach spare bytes plus leastPercent of the live memory. With little live memory,
	// collecting at each doubling would take a tenth of the CPU; with much, a doubling would be most of our
	// memory.
	spare                     = 32 << 20
	leastPercent, mostPercent = 15, 400
)

// Tune frees what the start used. Until ctx ends it then adjusts the garbage collector for a process that
// is small but may hold a thousand open streams.
func Tune(ctx context.Context) {
	debug.FreeOSMemory()
	_ = dropProgram() // where it cannot, nothing is lost but memory
	defer debug.SetGCPercent(debug.SetGCPercent(mostPercent))
	// The collector adds its percentage to all three.
	lives := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"},
		{Name: "/gc/scan/globals:bytes"}}
	now := mostPercent
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(lives)
		bytes := uint64(0)
		for _, l := range lives {
			bytes += l.Value.Uint64()
		}
		if p := gcPercent(bytes); p != now {
			now = p
			debug.SetGCPercent(p)
		}
	}
}

// gcPercent returns the GC percentage for so many live bytes, in steps of 5.
func gcPercent(live uint64) int {
	p := mostPercent
	if live > 0 {
		p = int(min(leastPercent+100*spare/live, mostPercent))
	}
	return p / 5 * 5
}

const (
	filesOfStream = 2    // to the caller and to the model server
	filesOfServer = 200  // listeners, logs, rules, open pages
	plenty        = 1000 // concurrent requests that need no higher limit
)

// Memory is a memory limit and its source.
type Memory struct {
	Bytes uint64 // 0: none
	From  string // GOMEMLIMIT or cgroup
}

// memoryLimit returns the limit of GOMEMLIMIT, or else of this process's cgroup.
func memoryLimit() Memory {
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return Memory{uint64(n), "GOMEMLIMIT"}
	}
	n, err := memlimit.FromCgroup()
	if err != nil {
		return Memory{} // no cgroup limits it, or none that can be read
	}
	return Memory{n, "cgroup"}
}

// limits are the system's limits for this process.
type limits struct {
	memory Memory
	files  uint64 // 0: unknown
}

// applyLimits reads the limits and makes the garbage collector respect that of memory.
func applyLimits(log *slog.Logger) limits {
	c := limits{memory: memoryLimit(), files: OfFiles()}
	if c.memory.Bytes > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		c.memory.Bytes = goShare(c.memory.Bytes)
		debug.SetMemoryLimit(int64(c.memory.Bytes))
	}
	if c.memory.Bytes > 0 {
		log.Info("memory is limited", "event", "memory_limit", "bytes", c.memory.Bytes, "from", c.memory.From)
	}
	return c
}

// goShare returns the share of a cgroup's memory for Go. Pages of the program and buffers of the kernel
// need the rest.
func goShare(limit uint64) uint64 {
	const least = 32 << 20
	return limit - min(max(limit/10, least), limit/2)
}

// admission returns what the server needs to know of memory.
func (c limits) admission() web.Memory {
	return web.Memory{Limit: c.memory.Bytes, Used: MemoryInUse, Collect: runtime.GC}
}

// filesShort says that there are too few files for the load limits, or for plenty of requests; empty: there
// are enough.
func (c limits) filesShort(l web.Load) string {
	need := filesOfStream*l.AtOnce + l.Waiting + filesOfServer
	enough := max(0, (int(c.files)-l.Waiting-filesOfServer)/filesOfStream)
	if c.files == 0 || enough >= min(l.AtOnce, plenty) {
		return ""
	}
	return fmt.Sprintf("%d files may be open, which is enough for %d requests at once, and limits.yaml lets %d in: raise the hard limit to %d (LimitNOFILE= of the unit, ulimit -Hn), or lower load.at_once",
		c.files, enough, l.AtOnce, need)
}

// memoryText describes the memory limit; empty: there is none.
func (c limits) memoryText(l web.Load) string {
	if c.memory.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB (%s); from %d %% on new requests get 503", c.memory.Bytes>>20, c.memory.From,
		l.Shed)
}

// MemoryInUse returns the memory that cannot be collected: what survived the last collection, the stacks,
// and the runtime's own. It also counts collections. It stops nothing and takes a microsecond.
func MemoryInUse() (bytes, cycles uint64) {
	read := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/metadata/mcache/inuse:bytes"},
		{Name: "/memory/classes/metadata/mspan/inuse:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"},
		{Name: "/memory/classes/os-stacks:bytes"},
		{Name: "/memory/classes/other:bytes"},
		{Name: "/memory/classes/profiling/buckets:bytes"},
	}
	metrics.Read(read)
	for _, m := range read[1:] {
		bytes += m.Value.Uint64()
	}
	return bytes, read[0].Value.Uint64()
}
