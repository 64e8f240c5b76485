package paths

import (
	"io/fs"
	"slices"
	"strings"
)

// order lists the classes from the harmless to the worst.
var order = []string{
	Workspace, Readable, Null, Around, WorkspaceSecret, Automation, WorkspaceRoot, Dynamic, VCS, Outside,
	Device, System, Kernel,
	Foreign, Home, Protected, Root, Persist, Control, Socket, BlockDevice, Secret, Malformed,
}

// Classes returns all classes.
func Classes() []string { return slices.Clone(order) }

// stricter reports whether class a is worse than b.
func stricter(a, b string) bool {
	return slices.Index(order, a) > slices.Index(order, b)
}

// InWorkspace reports whether a class is that of the workspace: the folder, or a plain file in it.
func InWorkspace(class string) bool { return class == Workspace || class == WorkspaceRoot }

// class returns the class of a place: by what stands there, then by its name, then by where it lies.
func (g Guard) class(at *place) string {
	p := at.path
	if p == "/" {
		return Root
	}
	if at.op == Read && slices.ContainsFunc(g.Roots.ReadFiles,
		func(f string) bool { return g.real(f) == p }) {
		return Readable
	}
	root, write := g.root(p)
	if c := node(at, root); c != "" {
		return c
	}
	c, alike := g.special(at, root, write)
	if alike {
		at.marks = append(at.marks, MarkLookAlike)
	}
	if c == WorkspaceSecret && at.op == Write && at.there() {
		at.marks = append(at.marks, MarkOverwrite)
	}
	if at.Names > 1 && at.Mode.IsRegular() && (at.tool || at.op == Write) {
		at.marks = append(at.marks, MarkHardLink)
	}
	if c == "" {
		c = g.position(at, root, write)
	}
	return c
}

// root returns the innermost root around a path, and whether it may be written.
func (g Guard) root(p string) (root string, write bool) {
	if within(p, unknownFolder) {
		return unknownFolder, true
	}
	for _, r := range g.Roots.Read {
		if len(r) > len(root) && within(p, r) {
			root = r
		}
	}
	for _, r := range g.Roots.Write {
		if len(r) >= len(root) && within(p, r) {
			root, write = r, true
		}
	}
	return root, write
}

// position returns the class of a place by where it lies.
func (g Guard) position(at *place, root string, write bool) string {
	p := at.path
	switch {
	case write && p == root:
		return WorkspaceRoot
	case write && at.op == Delete && slices.ContainsFunc(g.Roots.Own,
		func(o string) bool { return within(o, p) }):
		return Control
	case write:
		return Workspace
	case root != "" && at.op == Read:
		return Readable
	case g.isForeign(p):
		return Foreign
	case at.op == Read && g.isAround(at):
		return Around
	case p == g.Roots.Home:
		return Home
	case topFolders()[p], g.holdsRoot(p):
		return Protected
	case isSystem(p), at.op != Read && isConfig(p):
		return System
	case root != "" && at.op != Run:
		return Readable
	}
	return Outside
}

// holdsRoot reports whether a root, the home folder or one of the guard's own files is in a folder.
func (g Guard) holdsRoot(p string) bool {
	inside := func(r string) bool { return len(r) > len(p) && within(r, p) }
	return slices.ContainsFunc(g.Roots.Write, inside) || slices.ContainsFunc(g.Roots.Read, inside) ||
		slices.ContainsFunc(g.Roots.Own, inside) || inside(g.Roots.Home)
}

// topFolders are the folders that a system is made of, and those of its users.
var topFolders = lists.Set("top-folders")

// isSystem reports whether a path is in a folder of programs or libraries.
func isSystem(p string) bool {
	first, _, _ := strings.Cut(p[1:], "/")
	return systems()[first]
}

// isConfig reports whether a path configures or starts the system.
func isConfig(p string) bool { return within(p, "/etc") || within(p, "/boot") || within(p, "/efi") }

var systems = lists.Set("systems")

// node returns the class of devices, sockets and what the kernel shows; empty for files. A deletion only
// concerns the name.
func node(at *place, root string) string {
	p := at.path
	switch {
	case strings.HasPrefix(p, "/dev/") && !within(root, "/dev"):
		return device(p[len("/dev/"):], at.tool)
	case strings.HasPrefix(p, "/proc/") && !within(root, "/proc"):
		return proc(at)
	case strings.HasPrefix(p, "/sys/") && !within(root, "/sys"):
		return Kernel
	case root == "" && (strings.HasSuffix(p, ".sock") || strings.HasSuffix(p, ".socket")):
		return Socket
	case !at.there() || at.op == Delete:
		return ""
	}
	switch mode := at.Mode; {
	case mode&fs.ModeSocket != 0:
		return Socket
	case mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0:
		return BlockDevice
	case mode&fs.ModeDevice != 0, mode&fs.ModeNamedPipe != 0 && at.tool:
		return Device
	}
	return ""
}
