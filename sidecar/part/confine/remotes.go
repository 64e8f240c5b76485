package confine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// Remotes returns the remotes in the git settings of a workspace, read as text: includes are not
// followed. It returns none if a confined command can have written the settings: in a repository that
// it made, or if the machine cannot protect them.
func (d *Issuer) Remotes(roots paths.Roots) (out []guard.Remote) {
	git := filepath.Join(roots.Workspace(), ".git")
	if info, err := os.Lstat(git); err != nil || !info.IsDir() || d.Repos.Contains(roots.Workspace()) ||
		slices.Contains(d.Missing, walls.PartBelow) {
		return nil
	}
	config, err := readShort(filepath.Join(git, "config"), maxSettings)
	if err != nil {
		return nil
	}
	user := newGitUser(os.Environ(), roots.Write)
	section := ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section = strings.ToLower(m[1])
		} else if m := remoteLine.FindStringSubmatch(line); m != nil && section == "remote" {
			if u, ok := user.Address(context.Background(), m[1]); ok && (u.Scheme != "file" ||
				isStore(storeOf(u.Path))) {
				out = append(out, guard.Remote{Text: m[1], URL: u})
			}
		}
	}
	return out
}

var (
	sectionLine = regexp.MustCompile(`^\[([A-Za-z0-9.-]+)(?: "[^"\\]*")?\]$`)
	remoteLine  = regexp.MustCompile(`^(?i:url|pushurl)\s*=\s*([^\s"\\#;]+)$`)
)

// addRemotes lets git of a command reach its remotes: folders are granted, and others go through the
// transport.
func (d *Issuer) addRemotes(t *walls.Ticket, remotes []guard.Remote) {
	plain := 0 // that are asked for in plain HTTP
	for _, r := range remotes {
		switch r.URL.Scheme {
		case "file":
			store := storeOf(r.URL.Path)
			if !r.Push {
				t.Box.Read = append(t.Box.Read, store)
				continue
			}
			t.Box.Write = append(t.Box.Write, store)
			t.Box.Fixed = append(t.Box.Fixed, gitPaths(store, true)...)
		case "ssh":
			t.Box.Read = append(t.Box.Read, d.Program)
			t.Set = append(t.Set, "GIT_SSH_COMMAND='"+strings.ReplaceAll(d.Program, "'", `'\''`)+
				"' "+walls.SSH, "GIT_SSH_VARIANT=ssh")
		case "https": // in plain HTTP the transport sees what is asked for
			t.Set = append(t.Set, fmt.Sprintf("GIT_CONFIG_KEY_%d=url.http://%s%s.insteadOf", plain,
				r.URL.Host, r.URL.Path), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", plain, r.Text))
			plain++
		}
	}
	if plain > 0 {
		t.Set = append(t.Set, fmt.Sprintf("GIT_CONFIG_COUNT=%d", plain))
	}
}

// isStore reports whether a folder is a git store.
func isStore(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// storeOf returns the git store of a path, which may be a workspace.
func storeOf(dir string) string {
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
		return filepath.Join(dir, ".git")
	}
	return dir
}
