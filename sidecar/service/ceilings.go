package service

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	filesOfStream = 2    // to the caller and to the model server
	filesOfServer = 200  // listeners, logs, rules, people who look
	plenty        = 1000 // requests at once, that need no higher limit
)

// Memory is a limit, and who set it.
type Memory struct {
	Bytes uint64 // 0: there is none
	From  string // GOMEMLIMIT or cgroup
}

// ofMemory is the limit of GOMEMLIMIT, or else that of the cgroup of this process.
func ofMemory() Memory {
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return Memory{uint64(n), "GOMEMLIMIT"}
	}
	n, err := memlimit.FromCgroup()
	if err != nil {
		return Memory{} // no cgroup limits it, or none that can be read
	}
	return Memory{n, "cgroup"}
}

// ceilings are what the system lets this process have.
type ceilings struct {
	memory Memory
	files  uint64 // 0: unknown
}

// look finds them, and has the runtime keep within the limit of memory: it collects harder near it.
func look(log *slog.Logger) ceilings {
	c := ceilings{memory: ofMemory(), files: OfFiles()}
	if c.memory.Bytes > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		c.memory.Bytes = ours(c.memory.Bytes)
		debug.SetMemoryLimit(int64(c.memory.Bytes))
	}
	if c.memory.Bytes > 0 {
		log.Info("memory is limited", "event", "memory_limit", "bytes", c.memory.Bytes, "from", c.memory.From)
	}
	return c
}

// ours is how much of a cgroup is for memory of Go. The rest is for what is none: pages of the program,
// buffers of the kernel.
func ours(limit uint64) uint64 {
	const least = 32 << 20
	return limit - min(max(limit/10, least), limit/2)
}

// admission is what the server needs to know of memory.
func (c ceilings) admission() web.Memory {
	return web.Memory{Limit: c.memory.Bytes, Used: InUse, Collect: runtime.GC}
}

// short says that there are not enough files for the limits, or for plenty of requests; empty: there are.
func (c ceilings) short(l web.Load) string {
	need := filesOfStream*l.AtOnce + l.Waiting + filesOfServer
	enough := max(0, (int(c.files)-l.Waiting-filesOfServer)/filesOfStream)
	if c.files == 0 || enough >= min(l.AtOnce, plenty) {
		return ""
	}
	return fmt.Sprintf("%d files may be open, which is enough for %d requests at once, and limits.yaml lets %d in: raise the hard limit to %d (LimitNOFILE= of the unit, ulimit -Hn), or lower load.at_once",
		c.files, enough, l.AtOnce, need)
}

// words are the limit of memory for a person; empty: there is none.
func (c ceilings) words(l web.Load) string {
	if c.memory.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB (%s); from %d %% on new requests get 503", c.memory.Bytes>>20, c.memory.From,
		l.Shed)
}
