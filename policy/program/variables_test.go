package program

import "testing"

func TestHarmless(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"PAGER", "cat", true},
		{"PAGER", "cat; id", false},
		{"PAGER", "./cat", false},
		{"GIT_EDITOR", "true", true},
		{"GIT_EDITOR", "vim", false},
		{"CC", "clang-18", true},
		{"CC", "./clang", false},
		{"GOFLAGS", "-mod=mod -race", true},
		{"GOFLAGS", "-toolexec=./x", false},
		{"NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings", true},
		{"NODE_OPTIONS", "--require ./x.js", false},
		{"NODE_OPTIONS", "--no-warnings\n--require=./x.js", false},
		{"PYTHONPATH", "src:lib", true},
		{"PYTHONPATH", "/tmp/x", false},
		{"PYTHONPATH", "src:../x", false},
		{"LD_PRELOAD", "x.so", false},
	} {
		if got := Harmless(tt.name, tt.value); got != tt.want {
			t.Errorf("Harmless(%q, %q) = %v", tt.name, tt.value, got)
		}
	}
}
