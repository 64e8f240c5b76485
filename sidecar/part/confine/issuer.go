package confine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Network lets a command reach the hosts of its permit through a proxy, and gives the URL
// of that proxy with credentials of its own.
type Network interface {
	Admit(set *ruleset.Set, p guard.Permit) (proxy string, err error)
}

// Issuer issues tickets for permits. It is safe for concurrent use.
type Issuer struct {
	Folder  *Folder
	Program string       // this program, absolute
	Records string       // where running commands know each other, absolute
	Empty   string       // a folder with nothing in it, absolute
	Missing []walls.Part // what this machine cannot enforce, and commands run without
	Made    *Made
	Untried bool    // commands run though what confines them was never tried
	Network Network // nil: commands reach nothing but servers of their own session
	Now     func() time.Time
}

// Permit issues the ticket of a command.
func (d *Issuer) Permit(set *ruleset.Set, p guard.Permit) (policy.Wrapper, error) {
	if p.Outside {
		t := walls.Ticket{Outside: true, Set: d.outside(p.Roots),
			Box: walls.Box{Command: shell(p), Dir: d.Empty, Write: p.Roots.Write}}
		path, err := d.Folder.Issue(t, d.Now())
		return policy.Wrapper{Program: d.Program, Ticket: path}, err
	}
	if err := d.Made.begins(p); err != nil {
		return policy.Wrapper{}, err
	}
	has := set.Confined(p.Roots.Home)
	for _, dir := range has.Write {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return policy.Wrapper{}, fmt.Errorf("make the folder for confined commands: %w", err)
		}
	}
	t := walls.Ticket{Hide: has.Hidden, Set: has.Environment, Box: d.box(set, p, has)}
	d.reach(&t, p.Remotes)
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

// shell runs the command of a permit.
func shell(p guard.Permit) []string { return []string{"bash", "-c", p.Command} }

// hostOf is HOST:PORT of the URL of a proxy.
func hostOf(proxy string) string {
	return proxy[strings.LastIndexByte(proxy, '@')+1:]
}

// box is what the command of a permit may touch.
func (d *Issuer) box(set *ruleset.Set, p guard.Permit, has ruleset.Confined) walls.Box {
	b := walls.System()
	b.Command = shell(p)
	b.Read = slices.Concat(b.Read, p.Roots.Read, p.Roots.ReadFiles, p.Trees, has.Read)
	for _, path := range p.Reads {
		for _, name := range named(path) {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				b.List = append(b.List, name) // what is below was not judged
			} else {
				b.Read = append(b.Read, name)
			}
		}
	}
	b.Write = slices.Concat(b.Write, p.Roots.Write, has.Write)
	found := inside(p)
	b.Deny = slices.Concat(b.Deny, p.Roots.Own, hidden(p, found, has))
	b.Fixed = fixed(p, found)
	b.Ports = p.Ports
	b.Session, b.Records, b.Lenient, b.Untried = p.Who.Agent+
		" "+p.Who.Session, d.Records, d.Missing, d.Untried
	l := ruleset.Of[ConfinedLimits](set)
	b.Limits = walls.Limits{Time: l.Time, Processes: l.Processes, Memory: int64(l.Memory),
		File: int64(l.File), Output: int64(l.Output)}
	return b
}

// mostNamed is how many files a pattern may stand for, and how many folders each part of it. The command
// cannot read more.
const mostNamed = 1024

// named is what a path of a command stands for: itself, or what fits the pattern.
func named(path string) []string { return fitting(path, false) }

// fitting is the same; where more of the pattern follows, only what leads on: folders, and links.
func fitting(path string, leads bool) (out []string) {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}
	}
	dir, pattern := filepath.Split(path)
	for _, folder := range fitting(filepath.Clean(dir), true) {
		entries, _ := os.ReadDir(folder) // what cannot be read names nothing
		for _, e := range entries {
			fits, err := filepath.Match(pattern, e.Name())
			if !fits || err != nil || leads && e.Type()&(fs.ModeDir|fs.ModeSymlink) == 0 {
				continue // what is no pattern names nothing
			}
			if out = append(out, filepath.Join(folder, e.Name())); len(out) == mostNamed {
				return out
			}
		}
	}
	return out
}
