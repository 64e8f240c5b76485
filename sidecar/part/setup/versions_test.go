package setup

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
)

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version, than string
		want          bool
	}{
		{"0.10.1", "0.10.2", true}, {"0.10.1.1", "0.10.2", true}, {"0.9.14", "0.10.2", true}, {"v0.10.1+gptoss", "0.10.2", true},
		{"0.10", "0.10.2", true}, {"0.10.2rc1.dev3+g1f0d21064", "0.10.2", true}, {"0.10.2.dev1", "0.10.2", true}, {"0.12.10-rc0", "0.12.10", true},
		{"0.10.2", "0.10.2", false}, {"0.10.2+cu128", "0.10.2", false}, {"0.10.2.post1", "0.10.2", false}, {"0.10.10", "0.10.2", false}, {"1.0", "0.10.2", false}, {"0.26.0", "0.10.2", false},
		{"", "0.10.2", false}, {"b9120-3d1f2a0", "0.10.2", false}, {"3d1f2a0", "0.10.2", false}, {"unknown", "0.10.2", false}, {"99999999999999999999.1", "0.10.2", false},
	} {
		if got := older(c.version, c.than); got != c.want {
			t.Errorf("%q before %q: %v", c.version, c.than, got)
		}
	}
}

// A server that tells a version with a known fault is one to update; the version that mends it has none.
func TestFaultyVersions(t *testing.T) {
	pages := map[string]string{"vllm": "/version", "ollama": "/api/version"}
	for _, f := range faults() {
		for version, want := range map[string]bool{"0.1.0": true, f.mended: false} {
			d := dialect(t, f.dialect)
			d.Pages = maps.Clone(d.Pages)
			d.Pages[pages[f.dialect]] = `{"version":"` + version + `"}`
			c := find(t, patient(t, servers.New(d,
				servers.StartOf(d, good[d.ID]))).servers(context.Background()), "dialect")
			if told := c.Status == warn && strings.Contains(c.Found, version+": before "+f.mended) &&
				c.Fix == f.fix+", see "+f.source; told != want || !want && c.Status != ok {
				t.Errorf("%s %s: %+v", f.dialect, version, c)
			}
		}
		if !strings.HasPrefix(f.source, "https://") || f.what == "" || f.fix == "" {
			t.Errorf("%+v", f)
		}
	}
}
