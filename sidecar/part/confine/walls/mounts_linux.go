package walls

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mounts hides and fixes what lies below a writable folder. Landlock can only allow, and a program
// that may write a folder may rename its entries. So each folder on the way becomes a mount point,
// which cannot be renamed, and what is hidden or fixed is mounted over.
func (b Box) mounts(p *plan, s planInput) error {
	hidden, fixed := b.belowWritable()
	if len(hidden)+len(fixed) == 0 || s.without == PartBelow {
		return nil
	}
	p.flags, p.part = s.offer.namespace, PartBelow
	defer func() { p.part = "" }()
	if p.flags&unix.CLONE_NEWUSER != 0 {
		p.mapIDs()
	}
	p.mount("", "/", unix.MS_REC|unix.MS_PRIVATE)
	for _, dir := range b.parents(append(hidden, fixed...)) {
		p.mount(dir, dir, unix.MS_BIND|unix.MS_REC)
	}
	for _, path := range fixed {
		p.mount(path, path, unix.MS_BIND|unix.MS_REC)
		p.mount("", path, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|mountFlags(path))
	}
	if len(hidden) == 0 {
		return nil
	}
	return p.hide(hidden)
}

// hide covers folders with empty ones, and files with an unreadable one. That file lies in a file
// system of its own, which is mounted over /proc for a moment.
func (p *plan) hide(paths []string) error {
	const stage, empty = "/proc", "/proc/empty"
	fresh := func(at string) {
		p.add("hide "+at, unix.SYS_MOUNT, p.cString("none"), p.cString(at), p.cString("tmpfs"),
			unix.MS_NOSUID|unix.MS_NODEV, p.cString("size=4k,mode=0"))
	}
	fresh(stage)
	p.add("make an empty file", unix.SYS_MKNODAT, atFDCWD, p.cString(empty), unix.S_IFREG, 0)
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
		if info.IsDir() {
			fresh(path)
		} else {
			p.mount(empty, path, unix.MS_BIND)
		}
		p.mount("", path, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV)
	}
	p.add("uncover "+stage, unix.SYS_UMOUNT2, p.cString(stage), 0)
	return nil
}

func (p *plan) mount(from, to string, flags uintptr) {
	p.add("mount "+to, unix.SYS_MOUNT, p.cString(from), p.cString(to), 0, flags, 0)
}

// mountFlags returns the flags of the mount that holds a path. A user namespace may not drop them.
func mountFlags(path string) (flags uintptr) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0
	}
	for _, f := range []struct{ have, flag uintptr }{
		{unix.ST_NOSUID, unix.MS_NOSUID}, {unix.ST_NODEV, unix.MS_NODEV}, {unix.ST_NOEXEC, unix.MS_NOEXEC},
		{unix.ST_NOATIME, unix.MS_NOATIME}, {unix.ST_NODIRATIME, unix.MS_NODIRATIME}, {unix.ST_RELATIME, unix.MS_RELATIME},
	} {
		if uintptr(st.Flags)&f.have != 0 {
			flags |= f.flag
		}
	}
	return flags
}

// mapIDs keeps user and group in a new user namespace. All others map to the overflow ids.
func (p *plan) mapIDs() {
	for _, w := range []struct{ file, text string }{
		{"setgroups", "deny"},
		{"uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())},
		{"gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		p.add("open "+w.file, unix.SYS_OPENAT, atFDCWD, p.cString("/proc/self/"+w.file),
			unix.O_WRONLY|unix.O_CLOEXEC, 0)
		p.add("write "+w.file, unix.SYS_WRITE, lastResult, p.cString(w.text), uintptr(len(w.text)))
	}
}
