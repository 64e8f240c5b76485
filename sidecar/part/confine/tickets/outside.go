package tickets

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/gitremote"
)

// RunOutside runs the command of a ticket that needs what is outside of the walls, in place of this process:
// in an empty folder, with no program and no setting of a folder that confined commands may change. It
// returns only if it fails.
func (t *Ticket) RunOutside(environ []string) error {
	env := append(gitremote.Unprepared(environ, t.Box.Write), t.Set...)
	shell, err := gitremote.Lookup(env, t.Box.Command[0])
	if err == nil {
		err = empty(t.Box.Dir)
	}
	if err == nil {
		err = os.Chdir(t.Box.Dir)
	}
	if err == nil {
		err = syscall.Exec(shell, t.Box.Command, env)
	}
	return fmt.Errorf("run the command in an empty folder: %w", err)
}

// empty reports a folder in which something lies.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = errors.New(dir + " is not empty; remove what lies in it")
	}
	return err
}

// outside names to programs in the empty folder what they would find in the workspace: gh the repository, and
// docker compose the project.
func (d *Issuer) outside(roots paths.Roots) (set []string) {
	for _, r := range d.Remotes(roots) {
		parts := strings.Split(strings.Trim(strings.TrimSuffix(r.URL.Path, ".git"), "/"), "/")
		if r.URL.Scheme != "file" && len(parts) == 2 {
			set = append(set, "GH_REPO="+r.URL.Hostname()+"/"+strings.Join(parts, "/"))
			break
		}
	}
	return append(set, "COMPOSE_PROJECT_NAME="+
		strings.TrimLeft(notInProject().ReplaceAllString(strings.ToLower(path.Base(roots.Workspace())), ""),
			"_-"))
}

var notInProject = lazyregexp.New(`[^a-z0-9_-]`)
