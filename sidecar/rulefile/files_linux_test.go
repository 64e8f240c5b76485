package rulefile

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe would be read until somebody writes into it, a link to a device for ever.
func TestReadDirDoesNotWait(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"a pipe":             func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link to a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to a pipe": func(path string) error {
			check(t, unix.Mkfifo(path+".pipe", 0o600))
			return os.Symlink(path+".pipe", path)
		},
	} {
		dir := t.TempDir()
		write(t, dir+"/a.yaml", "x")
		check(t, place(dir+"/x.yaml"))
		if _, err := ReadDir(dir); err == nil ||
			!strings.Contains(err.Error(), "x.yaml is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
