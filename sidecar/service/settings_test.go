package service

import (
	"os"
	"path/filepath"
	"testing"
)

// A workspace is absolute, whoever has written it.
func TestWorkspaceOf(t *testing.T) {
	t.Setenv("HOME", "/home/sam")
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"": "", "/srv/work/": "/srv/work", "~": "/home/sam", "~/code/shop": "/home/sam/code/shop", "code": filepath.Join(here, "code"), "~sam/x": filepath.Join(here, "~sam/x"),
	} {
		if got, err := WorkspaceOf(setting); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", setting, got, err, want)
		}
	}
	if _, err := WorkspaceOf("//"); err == nil {
		t.Error("the whole machine is a workspace")
	}
}
