package paths

import (
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// order is the classes from the harmless to the worst, for those who must choose one.
var order = []string{
	Workspace, Readable, Null, Around, WorkspaceSecret, Automation, WorkspaceRoot, Dynamic, VCS, Outside,
	Device, System, Kernel,
	Foreign, Home, Protected, Root, Persist, Control, Socket, BlockDevice, Secret, Malformed,
}

// Classes are all classes.
func Classes() []string { return slices.Clone(order) }

// stricter says whether class a is worse than b.
func stricter(a, b string) bool {
	return slices.Index(order, a) > slices.Index(order, b)
}

// class says what kind of place it is. What the thing itself is comes first, then its
// name, then where it lies.
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

// root is the innermost root around a path, and whether it may be written.
func (g Guard) root(p string) (root string, write bool) {
	if within(p, nowhere) {
		return nowhere, true
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

// position is the class of a place by where it lies.
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
	case g.foreign(p):
		return Foreign
	case at.op == Read && g.around(at):
		return Around
	case p == g.Roots.Home:
		return Home
	case topFolders()[p], g.holds(p):
		return Protected
	case system(p), at.op != Read && settings(p):
		return System
	case root != "" && at.op != Run:
		return Readable
	}
	return Outside
}

// holds says whether a root, the home folder or one of the guard's own files is inside
// of a folder.
func (g Guard) holds(p string) bool {
	inside := func(r string) bool { return len(r) > len(p) && within(r, p) }
	return slices.ContainsFunc(g.Roots.Write, inside) || slices.ContainsFunc(g.Roots.Read, inside) ||
		slices.ContainsFunc(g.Roots.Own, inside) || inside(g.Roots.Home)
}

// topFolders are the folders that a system is made of, and those of its users.
var topFolders = set(`/bin /boot /dev /efi /etc /home /lib /lib32 /lib64 /libx32 /lost+found /media /mnt /nix /opt /proc /root /run /sbin /snap /srv
	/sys /tmp /usr /usr/bin /usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/local/bin /usr/local/lib /usr/local/sbin
	/usr/sbin /usr/share /usr/src /var /var/cache /var/lib /var/log /var/mail /var/run /var/spool /var/tmp /var/www
	/Applications /Library /Network /System /Users /Volumes /cores /private /private/etc /private/tmp /private/var`)

// system says whether a path is inside a folder of programs or libraries.
func system(p string) bool {
	first, _, _ := strings.Cut(p[1:], "/")
	switch first {
	case "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "System":
		return true
	}
	return false
}

// settings says whether a path is where the system is set up and started.
func settings(p string) bool { return within(p, "/etc") || within(p, "/boot") || within(p, "/efi") }

// set makes a set of words when it is first asked for.
func set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(words) {
			m[w] = true
		}
		return m
	})
}

// node is the class of what is no file: devices, what the kernel shows, sockets. A name
// that is deleted is only a name.
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
