package service

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// Memory is a limit, and who set it.
type Memory struct {
	Bytes uint64 // 0: there is none
	From  string // GOMEMLIMIT, or a file of a cgroup
}

const (
	membership = "proc/self/cgroup"
	hierarchy  = "sys/fs/cgroup"
)

// OfMemory is the limit of GOMEMLIMIT, or else that of the cgroup of this process, version 2 or 1. Root is
// the root of the file system.
func OfMemory(root fs.FS) Memory {
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		return Memory{uint64(n), "GOMEMLIMIT"}
	}
	return ofCgroup(root)
}

// ofCgroup is the lowest limit of the cgroup and those around it.
func ofCgroup(root fs.FS) (lowest Memory) {
	text, err := fs.ReadFile(root, membership)
	if err != nil {
		return Memory{}
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		folder, file := hierarchy, "memory.max"
		switch {
		case part[0] == "0" && part[1] == "":
		case part[1] == "memory":
			folder, file = path.Join(hierarchy, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be that of the host, which is not there; the root of the hierarchy is.
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			name := path.Join(folder, at, file)
			if n := bytesIn(root, name); n > 0 && (lowest.Bytes == 0 || n < lowest.Bytes) {
				lowest = Memory{n, "/" + name}
			}
			if at == "/" {
				break
			}
		}
	}
	return lowest
}

// bytesIn is the number in a file; 0: there is none, or it means that there is no limit.
func bytesIn(root fs.FS, name string) uint64 {
	const none = 1 << 60 // version 1 writes the largest number of pages
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n >= none {
		return 0 // it says max
	}
	return n
}
