package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// made is a config of its own.
func made(t *testing.T, text string) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "openclaw.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q: %v, want %q", path, got, err, want)
	}
}

func TestWriteAndUndo(t *testing.T) {
	f := made(t, "one")
	backup, err := f.Write([]byte("two"), noon)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, f.Path, "two")
	holds(t, backup, "one")
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode of the backup: %v %v", info.Mode(), err)
	}
	f.Text = []byte("two")
	if _, err := f.Write([]byte("three"), noon.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"two", "one"} {
		u, err := Undo(f.Path, noon)
		if err != nil || u.Aside != "" || string(u.After) != want {
			t.Errorf("%+v: %v", u, err)
		}
		holds(t, f.Path, want)
	}
	if _, err := Undo(f.Path, noon); err == nil || !strings.Contains(err.Error(), "there is no backup of") {
		t.Errorf("a third time: %v", err)
	}
	if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

func TestWriteLeavesWhatOthersWrote(t *testing.T) {
	f := made(t, "one")
	if err := os.WriteFile(f.Path, []byte("other"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("two"), noon); err == nil || !strings.Contains(err.Error(), "has changed since it was read") {
		t.Errorf("%v", err)
	}
	holds(t, f.Path, "other")
	if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

func TestUndoKeepsWhatOthersWrote(t *testing.T) {
	f := made(t, "one")
	if _, err := f.Write([]byte("two"), noon); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path, []byte("theirs"), 0o640); err != nil {
		t.Fatal(err)
	}
	u, err := Undo(f.Path, noon)
	if err != nil || u.Aside == "" {
		t.Fatalf("%+v: %v", u, err)
	}
	holds(t, f.Path, "one")
	holds(t, u.Aside, "theirs")
}

func TestRead(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "openclaw onboard makes one") {
		t.Errorf("%v", err)
	}
	if _, err := Undo(filepath.Join(t.TempDir(), "none.json"), noon); err == nil {
		t.Error("undone: nothing")
	}
}

// A link stays a link, and the file behind it is replaced.
func TestLink(t *testing.T) {
	f := made(t, "one")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(f.Path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := (File{link, f.Text}).Write([]byte("two"), noon); err != nil {
		t.Fatal(err)
	}
	holds(t, f.Path, "two")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v %v", info, err)
	}
}

// The answers are those of OpenClaw 2026.9.6; e2e asks the real one.
func TestValidate(t *testing.T) {
	f := made(t, "{}")
	for name, c := range map[string]struct{ says, want string }{
		"fine":                        {`echo '{"valid":true,"path":"x","warnings":[]}'`, ""},
		"refused":                     {`echo '{"ok":false,"valid":false,"issues":[{"path":"tools","message":"Unrecognized key: \"bogus\""}]}'; exit 1`, "OpenClaw refuses this config:\n  tools: Unrecognized key: \"bogus\""},
		"broken":                      {`echo 'needs Node 24' >&2; exit 1`, "needs Node 24"},
		"the text, beside the config": {`grep -q two "$OPENCLAW_CONFIG_PATH" && [ "$(dirname "$OPENCLAW_CONFIG_PATH")" = ` + filepath.Dir(f.Path) + ` ] && echo '{"valid":true}'`, ""},
	} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "openclaw"), []byte("#!/bin/sh\n"+c.says+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":/usr/bin:/bin")
		err := Validate(context.Background(), f.Path, []byte("two"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.As(err, new(*Refused)) != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
		if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 1 {
			t.Errorf("%s: left: %v", name, list)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := Validate(context.Background(), f.Path, nil); err != ErrNoOpenClaw {
		t.Errorf("without OpenClaw: %v", err)
	}
}
