package service

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestOfCgroup(t *testing.T) {
	for _, row := range []struct {
		name  string
		files map[string]string
		want  Memory
	}{
		{"no Linux", nil, Memory{}},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, Memory{}},
		{"its own", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1048576\n", "sys/fs/cgroup/a/memory.max": "max\n"}, Memory{1 << 20, "/sys/fs/cgroup/a/b/memory.max"}},
		{"one around it", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "2097152\n", "sys/fs/cgroup/a/memory.max": "1048576\n"}, Memory{1 << 20, "/sys/fs/cgroup/a/memory.max"}},
		{"a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, Memory{1 << 20, "/sys/fs/cgroup/memory.max"}},
		{"the path of the host", map[string]string{"proc/self/cgroup": "0::/../../kubepods/x\n", "sys/fs/cgroup/memory.max": "1048576\n"}, Memory{1 << 20, "/sys/fs/cgroup/memory.max"}},
		{"version 1", map[string]string{"proc/self/cgroup": "5:memory:/x\n4:cpu:/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1048576\n"}, Memory{1 << 20, "/sys/fs/cgroup/memory/x/memory.limit_in_bytes"}},
		{"version 1 without a limit", map[string]string{"proc/self/cgroup": "5:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, Memory{}},
		{"nonsense", map[string]string{"proc/self/cgroup": "0\n\n::\n0::/\n", "sys/fs/cgroup/memory.max": "-1\n"}, Memory{}},
	} {
		root := fstest.MapFS{}
		for name, text := range row.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := ofCgroup(root); got != row.want {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
}

// What the operator says counts, and not the cgroup.
func TestGOMEMLIMIT(t *testing.T) {
	was := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(was)
	root := fstest.MapFS{"proc/self/cgroup": {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": {Data: []byte("1048576\n")}}
	if got := OfMemory(root); got != (Memory{1 << 40, "GOMEMLIMIT"}) {
		t.Errorf("%+v", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := OfMemory(root); got.Bytes != 1<<20 {
		t.Errorf("%+v", got)
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/a/b\n5:memory:/x", "max")
	f.Add("0::/../..", "12")
	f.Fuzz(func(t *testing.T, membership, max string) {
		root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(membership)},
			"sys/fs/cgroup/memory.max": {Data: []byte(max)}}
		if got := ofCgroup(root); (got.Bytes == 0) != (got.From == "") {
			t.Errorf("%+v", got)
		}
	})
}

func TestOfFiles(t *testing.T) {
	if n := OfFiles(); n > 0 && n < 20 {
		t.Errorf("%d files", n)
	}
}
