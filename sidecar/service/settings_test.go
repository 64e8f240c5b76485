package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// A workspace is absolute, whoever has written it.
func TestWorkspaceOf(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"": "", "/srv/work/": "/srv/work", "code": filepath.Join(here, "code"), "~sam/x": filepath.Join(here,
			"~sam/x"),
	} {
		if got, err := WorkspaceOf(setting); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", setting, got, err, want)
		}
	}
	if _, err := WorkspaceOf("//"); err == nil {
		t.Error("the whole machine is a workspace")
	}
}

// Which settings of the admin listener start, and what is kept for its console.
func TestWitnessOf(t *testing.T) {
	for _, row := range []struct {
		s          config.Settings
		keeps, bad bool
	}{
		{config.Settings{}, false, false}, {config.Settings{Admin: "127.0.0.1:0"}, true, false}, {config.Settings{Admin: "127.0.0.1:0", Console: "off"}, false, false},
		{config.Settings{Admin: "127.0.0.1:0", Console: "no-text"}, true, false}, {config.Settings{Admin: "127.0.0.1:0", Console: "nope"}, false, true},
		{config.Settings{Admin: "127.0.0.1:0", ReaderToken: "a"}, false, true}, {config.Settings{Admin: "127.0.0.1:0", AdminToken: "a", ApproverToken: "a"}, false, true},
		{config.Settings{Admin: "127.0.0.1:0", AdminToken: "a", ApproverToken: "b", ReaderToken: "c"}, true, false},
	} {
		w, err := witnessOf(row.s, nil)
		if (w != nil) != row.keeps || (err != nil) != row.bad ||
			w != nil && w.Words != (row.s.Console != "no-text") {
			t.Errorf("%+v: %v %v", row.s, w, err)
		}
	}
}
