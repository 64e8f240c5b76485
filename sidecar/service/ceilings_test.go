package service

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// What the operator says counts, and not the cgroup.
func TestGOMEMLIMIT(t *testing.T) {
	was := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(was)
	if got := memoryLimit(); got != (Memory{1 << 40, "GOMEMLIMIT"}) {
		t.Errorf("%+v", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := memoryLimit(); got.From == "GOMEMLIMIT" || (got.Bytes == 0) != (got.From == "") {
		t.Errorf("%+v", got)
	}
}

func TestOfFiles(t *testing.T) {
	if n := OfFiles(); n > 0 && n < 20 {
		t.Errorf("%d files", n)
	}
}

func TestCeilings(t *testing.T) {
	l := web.UsualLoad()
	for files, want := range map[uint64]string{
		0: "", 21200: "", 1 << 20: "", 4096: "", 3200: "",
		3199: "3199 files may be open, which is enough for 999 requests at once, and limits.yaml lets 10000 in: raise the hard limit to 21200",
		100:  "enough for 0 requests at once",
	} {
		if got := (limits{files: files}).filesShort(l); (got == "") != (want == "") ||
			!strings.Contains(got, want) {
			t.Errorf("%d: %q", files, got)
		}
	}
	for limit, want := range map[uint64]uint64{0: 0, 20 << 20: 10 << 20, 256 << 20: 224 << 20,
		1000 << 20: 900 << 20} {
		if got := goShare(limit); got != want {
			t.Errorf("of %d MiB %d", limit>>20, got>>20)
		}
	}
	c := limits{memory: Memory{Bytes: 512 << 20, From: "GOMEMLIMIT"}}
	if got := c.memoryText(l); got != "512 MiB (GOMEMLIMIT); from 85 % on new requests get 503" {
		t.Error(got)
	}
	if got := (limits{}).memoryText(l); got != "" {
		t.Error(got)
	}
}
