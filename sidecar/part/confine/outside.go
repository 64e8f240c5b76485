package confine

import (
	"path"
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

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
		strings.TrimLeft(notInProject.ReplaceAllString(strings.ToLower(path.Base(roots.Workspace())), ""),
			"_-"))
}

var notInProject = regexp.MustCompile(`[^a-z0-9_-]`)
