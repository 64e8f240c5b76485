package paths

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Unfit returns why a folder in a request cannot be a workspace; empty: it can. Everything in a workspace may
// be read, written and deleted, so it must not be the machine, a home folder, a folder of the system, or one
// with secrets or files of the guard. It ignores the write and read roots, and follows links.
func (g Guard) Unfit(dir string) string {
	var odd Use
	if !strings.HasPrefix(dir, "/") || path.Clean(dir) != dir || !validPath(dir, &odd) || len(odd.Marks) > 0 {
		return "it is no plain absolute path"
	}
	g.Roots.Write, g.Roots.Read, g.Roots.ReadFiles = nil, nil, nil
	for _, op := range []Op{Read, Write} {
		at := g.place(op, dir, true)
		if why := g.unfitClass(at); why != "" {
			return why
		}
	}
	return ""
}

func (g Guard) unfitClass(at place) string {
	p := at.path
	home := g.home(p)
	switch at.class {
	case Root:
		return "it is the whole machine"
	case Malformed:
		return "it leads nowhere"
	case Control:
		if !gatewayWorkspace.MatchString(p) || g.touchesOwn(p) {
			return "the files of the gateway or of this program are in it"
		}
		return ""
	case Secret, Persist:
		return "secrets are in it, or files that run by themselves"
	case Home, Protected, System, Kernel, Null, Socket, BlockDevice, Device:
		if p == home {
			return "it is a home folder"
		}
		return "it belongs to the system, or holds a home folder or files of this program"
	}
	switch top, _, _ := strings.Cut(p[1:], "/"); {
	case p == home:
		return "it is a home folder"
	case top == "etc" || top == "boot" || top == "dev" || top == "run":
		return "it belongs to the system"
	case home != "" && appData(p, home), absolute().leadsTo(fold(p)[1:]):
		return "programs keep secrets in it"
	}
	if inWorkspace, _ := g.special(&at, "", true); inWorkspace != "" {
		return "git or other programs run what is in it"
	}
	return ""
}

// touchesOwn reports whether one of the guard's own files is in a folder, or around it.
func (g Guard) touchesOwn(p string) bool {
	return slices.ContainsFunc(g.Roots.Own, func(o string) bool { return within(o, p) || within(p, o) })
}

// gatewayWorkspace matches where OpenClaw 2026.9.6 puts the workspaces of agents without a folder of their
// own, and what is in them.
var gatewayWorkspace = regexp.MustCompile(`/\.openclaw/workspace[^/]*(/[^.][^/]*)*$`)
