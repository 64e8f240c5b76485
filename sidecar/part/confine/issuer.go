package confine

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Network lets a command reach the hosts of its permit. It returns the URL of a proxy with the
// command's credentials.
type Network interface {
	Admit(set *ruleset.Set, p guard.Permit) (proxy string, err error)
}

// Issuer issues tickets for permits. It is safe for concurrent use.
type Issuer struct {
	Folder  *Folder
	Program string       // this program, absolute
	Records string       // where running commands find each other, absolute
	Empty   string       // an empty folder, absolute
	Missing []walls.Part // parts that this machine does not enforce; commands run without them
	Repos   *RepoLog
	Network Network // nil: commands reach only servers of their own session
	Now     func() time.Time
}

// Permit issues the ticket of a command.
func (d *Issuer) Permit(set *ruleset.Set, p guard.Permit) (policy.Wrapper, error) {
	if p.Outside {
		t := walls.Ticket{Outside: true, Set: d.outsideEnviron(p.Roots),
			Box: walls.Box{Command: shell(p), Dir: d.Empty, Write: p.Roots.Write}}
		path, err := d.Folder.Issue(t, d.Now())
		return policy.Wrapper{Program: d.Program, Ticket: path}, err
	}
	if err := d.Repos.add(p); err != nil {
		return policy.Wrapper{}, err
	}
	has := set.Confined(p.Roots.Home)
	for _, dir := range has.Write {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return policy.Wrapper{}, fmt.Errorf("make the folder for confined commands: %w", err)
		}
	}
	t := walls.Ticket{Hide: has.Hidden, Set: has.Environment, Box: d.box(set, p, has)}
	d.addRemotes(&t, p.Remotes)
	if d.Network != nil {
		proxy, err := d.Network.Admit(set, p)
		if err != nil {
			return policy.Wrapper{}, err
		}
		t.Proxy, t.Box.Net, t.Box.Proxy = proxy, walls.NetProxy, hostOf(proxy)
	}
	path, err := d.Folder.Issue(t, d.Now())
	return policy.Wrapper{Program: d.Program, Ticket: path}, err
}

// shell returns the command line of a permit.
func shell(p guard.Permit) []string { return []string{"bash", "-c", p.Command} }

// hostOf returns HOST:PORT of a proxy's URL.
func hostOf(proxy string) string {
	return proxy[strings.LastIndexByte(proxy, '@')+1:]
}

// box returns what the command of a permit may touch.
func (d *Issuer) box(set *ruleset.Set, p guard.Permit, has ruleset.Confined) walls.Box {
	b := walls.System()
	b.Command = shell(p)
	b.Read = slices.Concat(b.Read, p.Roots.Read, p.Roots.ReadFiles, p.Trees, has.Read)
	for _, path := range p.Reads {
		for _, name := range expand(path) {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				b.List = append(b.List, name) // what is below was not judged
			} else {
				b.Read = append(b.Read, name)
			}
		}
	}
	b.Write = slices.Concat(b.Write, p.Roots.Write, has.Write)
	found := findInside(p)
	b.Deny = slices.Concat(b.Deny, p.Roots.Own, hiddenPaths(p, found, has))
	b.Fixed = fixedPaths(p, found)
	b.Ports = p.Ports
	b.Session, b.Records, b.Lenient = p.Who.Agent+" "+p.Who.Session, d.Records, d.Missing
	l := ruleset.Of[ConfinedLimits](set)
	b.Limits = walls.Limits{Time: l.Time, Processes: l.Processes, Memory: int64(l.Memory),
		File: int64(l.File), Output: int64(l.Output)}
	return b
}

// maxMatches is how many files a pattern may match, and how many folders each part of it. The command
// cannot read more.
const maxMatches = 1024

// expand returns a path, or the files that match it if it is a pattern.
func expand(path string) []string { return expandPattern(path, false) }

// expandPattern is expand; if more of the pattern follows, it returns only folders and links.
func expandPattern(path string, leads bool) (out []string) {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}
	}
	dir, pattern := filepath.Split(path)
	for _, folder := range expandPattern(filepath.Clean(dir), true) {
		entries, _ := os.ReadDir(folder) // what cannot be read names nothing
		for _, e := range entries {
			fits, err := filepath.Match(pattern, e.Name())
			if !fits || err != nil || leads && e.Type()&(fs.ModeDir|fs.ModeSymlink) == 0 {
				continue // what is no pattern names nothing
			}
			if out = append(out, filepath.Join(folder, e.Name())); len(out) == maxMatches {
				return out
			}
		}
	}
	return out
}

// outsideEnviron tells programs in the empty folder what they would find in the workspace: gh the
// repository, and docker compose the project.
func (d *Issuer) outsideEnviron(roots paths.Roots) (set []string) {
	for _, r := range d.Remotes(roots) {
		parts := strings.Split(strings.Trim(strings.TrimSuffix(r.URL.Path, ".git"), "/"), "/")
		if r.URL.Scheme != "file" && len(parts) == 2 {
			set = append(set, "GH_REPO="+r.URL.Hostname()+"/"+strings.Join(parts, "/"))
			break
		}
	}
	return append(set, "COMPOSE_PROJECT_NAME="+
		strings.TrimLeft(nonProjectChars.ReplaceAllString(strings.ToLower(path.Base(roots.Workspace())), ""),
			"_-"))
}

var nonProjectChars = regexp.MustCompile(`[^a-z0-9_-]`)
