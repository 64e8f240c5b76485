package confine

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// mostKept is how many files of secret folders are compared with git. Other secrets are as many as
// there are names that are looked at, and all of them are hidden: the first ones could be decoys.
const mostKept = 256

// inside looks through the folders that a command may change.
func inside(p guard.Permit) (out []paths.Inside) {
	g := paths.Guard{Roots: p.Roots.Real(workspace.Links{}, nil), Links: workspace.Links{}}
	for _, folder := range g.Roots.Write {
		out = append(out, g.Inside(folder))
	}
	return out
}

// hidden are the secrets there. What the command deletes may be deleted, if nothing else happens
// in it, and code of the workspace may read what exec.yaml says. What git keeps in the same words
// is no secret any more, and git could not work without it.
func hidden(p guard.Permit, found []paths.Inside, has ruleset.Confined) (out []string) {
	left := mostKept
	for _, in := range found {
		in.Secrets = slices.DeleteFunc(in.Secrets, func(secret string) bool {
			return harmless(secret) || p.Project && slices.ContainsFunc(has.Secrets,
				func(name string) bool { return fits(secret, name) }) ||
				p.Understood && slices.ContainsFunc(p.Deletes,
					func(gone string) bool { return below(secret, gone) })
		})
		out = append(out, unkept(in, &left)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maySay are settings of programs in which a token may stand, and often does not: then npm and
// its like need them.
var maySay = []string{".npmrc", ".yarnrc.yml", ".pypirc", ".curlrc", ".wgetrc"}

// tokens are the words without which no such file holds one.
var tokens = regexp.MustCompile(`(?i)auth|token|pass|secret|key|user|login|cookie|://[^/\s]*@`)

// maxSettings is how long such a file is at most, in bytes.
const maxSettings = 64 << 10

// harmless reports whether a file that may hold a token holds none.
func harmless(file string) bool {
	if !slices.Contains(maySay, path.Base(file)) {
		return false
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return false
	}
	doc, err := os.ReadFile(file)
	return err == nil && !tokens.Match(doc)
}

// deepest is how many folders below the workspace a repository may lie whose git is fixed. Deeper
// ones are made by tests, which remove them.
const deepest = 2

// fixed is what lies in a folder that may be changed, and is not to be changed: what git would
// run later, unconfined. A command that is understood, or is git alone, has been judged for that; git
// itself changes its settings, and rm removes repositories.
func fixed(p guard.Permit, found []paths.Inside) (out []string) {
	work := paths.Behind(workspace.Links{}, p.Roots.Workspace())
	for _, in := range found {
		for _, store := range in.Stores {
			near := !p.Settings && below(store, work) && strings.Count(store[len(work):], "/") <= deepest
			if near || store == work || slices.Contains(p.Roots.Write, store) {
				out = append(out, ofGit(filepath.Join(store, ".git"), !p.Settings)...)
			}
		}
	}
	return out
}

// ofGit is what runs later of a store: hooks, and what settings name. Only what is there can be
// fixed, so it is made. Of a worktree the file that leads to its store is fixed.
func ofGit(git string, settings bool) (out []string) {
	info, err := os.Lstat(git)
	switch {
	case err != nil || info.Mode()&fs.ModeSymlink != 0:
		return nil
	case !info.IsDir():
		return []string{git}
	}
	hooks, config := filepath.Join(git, "hooks"), filepath.Join(git, "config")
	_ = os.Mkdir(hooks, 0o755) // where that fails, no process of this user can make it later
	out = append(out, hooks)
	if settings {
		if f, err := os.OpenFile(config, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			f.Close()
		}
		out = append(out, config)
	}
	return out
}

// fits reports whether the last parts of a path are as a pattern has it.
func fits(file, pattern string) bool {
	parts := strings.Split(file, "/")
	n := 1 + strings.Count(pattern, "/")
	if n > len(parts) {
		return false
	}
	// patterns were tried when they were read
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok
}

// below reports whether a path is a folder or lies in it.
func below(file, folder string) bool {
	return folder != "" && (file == folder || strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/"))
}

// unkept are the secrets that no store of git has. As many files as are left are compared.
func unkept(in paths.Inside, left *int) (out []string) {
	secrets := in.Secrets
	slices.SortFunc(in.Stores, func(a, b string) int { return len(b) - len(a) }) // the innermost decides
	for _, store := range in.Stores {
		var kept index
		rest := secrets[:0:0]
		for _, secret := range secrets {
			switch {
			case !below(secret, store):
				rest = append(rest, secret)
			default:
				if kept == nil {
					kept = readIndex(store)
				}
				out = append(out, kept.without(store, secret, left)...)
			}
		}
		secrets = rest
	}
	return append(out, secrets...)
}

// without is a secret, or of a folder of secrets what git does not keep in it.
func (kept index) without(store, secret string, left *int) (out []string) {
	name := strings.TrimPrefix(secret, store+"/")
	if kept.has(name, secret) {
		return nil
	}
	if !kept.holds(name) {
		return []string{secret}
	}
	err := filepath.WalkDir(secret, func(file string, e fs.DirEntry, err error) error {
		switch *left--; {
		case err != nil || *left < 0:
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
