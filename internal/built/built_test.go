package built

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	setting := func(pairs ...string) (out []debug.BuildSetting) {
		out = append(out, debug.BuildSetting{Key: "GOOS", Value: "linux"}, debug.BuildSetting{Key: "GOARCH",
			Value: "arm64"})
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want, line    string
	}{
		{"a tag in a clone", "v1.2.3", setting("vcs.revision", "1502b1e3f0aab5c6d7e8", "vcs.modified", "false"), "v1.2.3", "commit 1502b1e3f0aa, go1.26.8, linux/arm64"},
		{"changed files", "v1.2.4-0.20261126002600-1502b1e3f0aa+dirty", setting("vcs.revision", "1502b1e3f0aab5c6d7e8", "vcs.modified", "true"), "v1.2.4-0.20261126002600-1502b1e3f0aa+dirty", "commit 1502b1e3f0aa and changes, go1.26.8, linux/arm64"},
		{"go install of a tag", "v1.2.3", setting(), "v1.2.3", "commit not known, go1.26.8, linux/arm64"},
		{"go install of a commit", "v0.0.0-20261126002600-1502b1e3f0aa", setting(), "v0.0.0-20261126002600-1502b1e3f0aa", "commit 1502b1e3f0aa, go1.26.8, linux/arm64"},
		{"after a tag", "v1.2.4-0.20261126002600-1502b1e3f0aa", setting(), "v1.2.4-0.20261126002600-1502b1e3f0aa", "commit 1502b1e3f0aa, go1.26.8, linux/arm64"},
		{"bare files", "(devel)", setting(), "devel", "commit not known, go1.26.8, linux/arm64"},
		{"a test", "", setting(), "devel", "commit not known, go1.26.8, linux/arm64"},
		{"a tag that looks like a commit", "v1.0.0-abcdefabcdef", setting(), "v1.0.0-abcdefabcdef", "commit not known, go1.26.8, linux/arm64"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: c.version},
			Settings: c.settings}
		if got := Of(info); got.Version != c.want || got.String() != c.line {
			t.Errorf("%s: %s, %s", c.name, got.Version, got)
		}
	}
}
