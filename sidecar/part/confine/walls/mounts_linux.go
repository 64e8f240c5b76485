package walls

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mounts hides and fixes what lies below a folder that may be written. Landlock can only
// allow, and who may write a folder may rename what is in it. So each folder on the way becomes a
// mount point, which cannot be renamed, and what is hidden or fixed is mounted over.
func (b Box) mounts(p *plan, s start) error {
	hidden, fixed := b.covered()
	if len(hidden)+len(fixed) == 0 || s.without == PartBelow {
		return nil
	}
	p.flags, p.part = s.offer.namespace, PartBelow
	defer func() { p.part = "" }()
	if p.flags&unix.CLONE_NEWUSER != 0 {
		p.identity()
	}
	p.mount("", "/", unix.MS_REC|unix.MS_PRIVATE)
	for _, dir := range b.parents(append(hidden, fixed...)) {
		p.mount(dir, dir, unix.MS_BIND|unix.MS_REC)
	}
	for _, path := range fixed {
		p.mount(path, path, unix.MS_BIND|unix.MS_REC)
		p.mount("", path, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|kept(path))
	}
	if len(hidden) == 0 {
		return nil
	}
	return p.hide(hidden)
}

// hide covers folders with empty ones, and files with one that cannot be read. It stands
// in a file system of its own, which is mounted over /proc for a moment.
func (p *plan) hide(paths []string) error {
	const stage, empty = "/proc", "/proc/empty"
	fresh := func(at string) {
		p.do("hide "+at, unix.SYS_MOUNT, p.text("none"), p.text(at), p.text("tmpfs"),
			unix.MS_NOSUID|unix.MS_NODEV, p.text("size=4k,mode=0"))
	}
	fresh(stage)
	p.do("make an empty file", unix.SYS_MKNODAT, atCwd, p.text(empty), unix.S_IFREG, 0)
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
	p.do("uncover "+stage, unix.SYS_UMOUNT2, p.text(stage), 0)
	return nil
}

func (p *plan) mount(from, to string, flags uintptr) {
	p.do("mount "+to, unix.SYS_MOUNT, p.text(from), p.text(to), 0, flags, 0)
}

// kept are the flags of the mount that holds a path. A user namespace may not drop them.
func kept(path string) (flags uintptr) {
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

// identity keeps user and group as they are in a new user namespace. All others map to the overflow ids.
func (p *plan) identity() {
	for _, w := range []struct{ file, text string }{
		{"setgroups", "deny"},
		{"uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())},
		{"gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		p.do("open "+w.file, unix.SYS_OPENAT, atCwd, p.text("/proc/self/"+w.file),
			unix.O_WRONLY|unix.O_CLOEXEC, 0)
		p.do("write "+w.file, unix.SYS_WRITE, last, p.text(w.text), uintptr(len(w.text)))
	}
}
