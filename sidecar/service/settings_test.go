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

// Which tokens of the admin listener start.
func TestTokens(t *testing.T) {
	for _, row := range []struct {
		s   config.Settings
		bad bool
	}{
		{config.Settings{}, false}, {config.Settings{ReaderToken: "a"}, true}, {config.Settings{AdminToken: "a", ApproverToken: "a"}, true},
		{config.Settings{AdminToken: "a", ApproverToken: "b", ReaderToken: "c"}, false},
	} {
		if err := adminTokens(row.s).Check(); (err != nil) != row.bad {
			t.Errorf("%+v: %v", row.s, err)
		}
	}
}
