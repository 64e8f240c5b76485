package tickets

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// mostHidden is how many secrets are hidden, and mostKept how many files of a secret folder are
// compared with git. Each costs two mounts.
const (
	mostHidden = 256
	mostKept   = 256
)

// hidden are the secrets in the folders that a command may change. What it deletes may be
// deleted, if nothing else happens in it, and code of the workspace may read what exec.yaml says. What git keeps in the same
// words is no secret any more, and git could not work without it.
func hidden(p guard.Permit, has ruleset.Confined) (out []string) {
	g := paths.Guard{Roots: p.Roots.Real(workspace.Links{}, nil), Links: workspace.Links{}}
	for _, folder := range g.Roots.Write {
		in := g.Inside(folder)
		in.Secrets = slices.DeleteFunc(in.Secrets, func(secret string) bool {
			return p.Project && slices.ContainsFunc(has.Secrets, func(name string) bool { return fits(secret, name) }) ||
				p.Understood && slices.ContainsFunc(p.Deletes, func(gone string) bool { return below(secret, gone) })
		})
		out = append(out, unkept(in)...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostHidden)]
}

// fits reports whether the last parts of a path are as a pattern has it.
func fits(file, pattern string) bool {
	parts := strings.Split(file, "/")
	n := 1 + strings.Count(pattern, "/")
	if n > len(parts) {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/")) // patterns were tried when they were read
	return ok
}

// below reports whether a path is a folder or lies in it.
func below(file, folder string) bool {
	return folder != "" && (file == folder || strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/"))
}

// unkept are the secrets that no store of git has.
func unkept(in paths.Inside) (out []string) {
	left := in.Secrets
	slices.SortFunc(in.Stores, func(a, b string) int { return len(b) - len(a) }) // the innermost decides
	for _, store := range in.Stores {
		var kept index
		rest := left[:0:0]
		for _, secret := range left {
			switch {
			case !below(secret, store):
				rest = append(rest, secret)
			default:
				if kept == nil {
					kept = readIndex(store)
				}
				out = append(out, kept.without(store, secret)...)
			}
		}
		left = rest
	}
	return append(out, left...)
}

// without is a secret, or of a folder of secrets what git does not keep in it.
func (kept index) without(store, secret string) (out []string) {
	name := strings.TrimPrefix(secret, store+"/")
	if kept.has(name, secret) {
		return nil
	}
	if !kept.holds(name) {
		return []string{secret}
	}
	files := 0
	err := filepath.WalkDir(secret, func(file string, e fs.DirEntry, err error) error {
		switch files++; {
		case err != nil || files > mostKept:
			return fs.ErrInvalid
		case !e.IsDir() && !kept.has(strings.TrimPrefix(file, store+"/"), file):
			out = append(out, file)
		}
		return nil
	})
	if err != nil {
		return []string{secret}
	}
	return out
}
