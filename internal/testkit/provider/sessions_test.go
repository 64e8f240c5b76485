package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every session can be read, has calls of both labels or says that all are allowed, and
// no placeholder is left in it but the one that only a run can fill.
func TestLoad(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	for _, name := range SessionNames(t) {
		s := LoadSession(t, name, root)
		if len(s.Calls) < 10 || !strings.HasPrefix(s.Home, root) || !strings.HasPrefix(s.Workspace, root) ||
			s.Calls[0].User == "" {
			t.Errorf("%s: %d calls, home %s, workspace %s", name, len(s.Calls), s.Home, s.Workspace)
		}
		for i, c := range s.Calls {
			if c.Want == Ask && c.Why == "" {
				t.Errorf("%s: call %d does not say why somebody is asked", name, i+1)
			}
			for _, mark := range []string{"@HOME@", "@WS@", "@TEXT", "@ADDED", "@COMMENTS", "@NUMBERS"} {
				if strings.Contains(string(c.Args), mark) {
					t.Errorf("%s: call %d has %s", name, i+1, mark)
				}
			}
			if !json.Valid(c.Args) {
				t.Errorf("%s: call %d: %s", name, i+1, c.Args)
			}
		}
	}
}

// The files stand where the session says, as long as it says.
func TestLay(t *testing.T) {
	s := LoadSession(t, "bigresults", t.TempDir())
	s.Lay(t)
	info, err := os.Stat(filepath.Join(s.Workspace, "logs", "app.log"))
	if err != nil || info.Size() < 120000 || info.Size() > 120200 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(s.Workspace, ".git", "refs", "remotes", "origin",
		"main")); err != nil {
		t.Error(err)
	}
}
