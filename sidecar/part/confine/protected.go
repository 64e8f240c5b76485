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

// maxCompared is how many files of secret folders are compared with git. Other secrets are as many as
// the names that are looked at, and all of them are hidden: the first ones could be decoys.
const maxCompared = 256

// findInside searches the folders that a command may change.
func findInside(p guard.Permit) (out []paths.Inside) {
	g := paths.Guard{Roots: p.Roots.Real(workspace.Links{}, nil), Links: workspace.Links{}}
	for _, folder := range g.Roots.Write {
		out = append(out, g.Inside(folder))
	}
	return out
}

// hiddenPaths returns the secrets in them that are hidden. Not hidden are secrets that the command
// deletes, if nothing else happens in it, those that code of the workspace may read by exec.yaml, and
// those that git tracks with the same content: git could not work without them.
func hiddenPaths(p guard.Permit, found []paths.Inside, has ruleset.Confined) (out []string) {
	remaining := maxCompared
	for _, in := range found {
		in.Secrets = slices.DeleteFunc(in.Secrets, func(secret string) bool {
			return hasNoToken(secret) || p.Project && slices.ContainsFunc(has.Secrets,
				func(name string) bool { return matchesTail(secret, name) }) ||
				p.Understood && slices.ContainsFunc(p.Deletes,
					func(gone string) bool { return isBelow(secret, gone) })
		})
		out = append(out, untracked(in, &remaining)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tokenFiles are settings that may hold a token but often do not; then npm and its like need them.
var tokenFiles = []string{".npmrc", ".yarnrc.yml", ".pypirc", ".curlrc", ".wgetrc"}

// tokenPattern matches a word of every such file with a token.
var tokenPattern = regexp.MustCompile(`(?i)auth|token|pass|secret|key|user|login|cookie|://[^/\s]*@`)

// maxSettings is the size up to which such a file is read, in bytes.
const maxSettings = 64 << 10

// hasNoToken reports whether a file that may hold a token holds none.
func hasNoToken(file string) bool {
	if !slices.Contains(tokenFiles, path.Base(file)) {
		return false
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return false
	}
	doc, err := os.ReadFile(file)
	return err == nil && !tokenPattern.Match(doc)
}

// maxStoreDepth is how many folders below the workspace the git settings of a repository are fixed.
// Deeper ones are made by tests, which remove them.
const maxStoreDepth = 2

// fixedPaths returns what must not change in a writable folder: what git would run later, unconfined.
// A command that is understood, or that only runs git, has been judged for that: git itself changes
// its settings, and rm removes repositories.
func fixedPaths(p guard.Permit, found []paths.Inside) (out []string) {
	work := paths.Behind(workspace.Links{}, p.Roots.Workspace())
	for _, in := range found {
		for _, store := range in.Stores {
			near := !p.Settings && isBelow(store, work) &&
				strings.Count(store[len(work):], "/") <= maxStoreDepth
			if near || store == work || slices.Contains(p.Roots.Write, store) {
				out = append(out, gitPaths(filepath.Join(store, ".git"), !p.Settings)...)
			}
		}
	}
	return out
}

// gitPaths returns what git runs later of a store: hooks, and the settings that name programs. Only
// existing paths can be fixed, so missing ones are made. Of a worktree the file that leads to its
// store is fixed.
func gitPaths(git string, settings bool) (out []string) {
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

// matchesTail reports whether the last parts of a path match a pattern.
func matchesTail(file, pattern string) bool {
	parts := strings.Split(file, "/")
	n := 1 + strings.Count(pattern, "/")
	if n > len(parts) {
		return false
	}
	// patterns were tried when they were read
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok
}

// isBelow reports whether a path is a folder or lies in it.
func isBelow(file, folder string) bool {
	return folder != "" && (file == folder || strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/"))
}

// untracked returns the secrets that no git store tracks. It compares at most remaining files.
func untracked(in paths.Inside, remaining *int) (out []string) {
	secrets := in.Secrets
	slices.SortFunc(in.Stores, func(a, b string) int { return len(b) - len(a) }) // the innermost decides
	for _, store := range in.Stores {
		var kept index
		rest := secrets[:0:0]
		for _, secret := range secrets {
			switch {
			case !isBelow(secret, store):
				rest = append(rest, secret)
			default:
				if kept == nil {
					kept = readIndex(store)
				}
				out = append(out, kept.untracked(store, secret, remaining)...)
			}
		}
		secrets = rest
	}
	return append(out, secrets...)
}

// untracked returns a secret, or of a folder of secrets what git does not track in it.
func (kept index) untracked(store, secret string, remaining *int) (out []string) {
	name := strings.TrimPrefix(secret, store+"/")
	if kept.has(name, secret) {
		return nil
	}
	if !kept.holds(name) {
		return []string{secret}
	}
	err := filepath.WalkDir(secret, func(file string, e fs.DirEntry, err error) error {
		switch *remaining--; {
		case err != nil || *remaining < 0:
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
