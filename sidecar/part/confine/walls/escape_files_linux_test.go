package walls

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func reads(path string) func() error {
	return func() error {
		text, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(text), secret) {
			err = errors.New("something else stands there")
		}
		return err
	}
}

func victimFile(name string) string { return "/proc/" + os.Getenv("VICTIM") + "/" + name }

func fileAttempts() []escape {
	write := func(path string, flags int) func() error {
		return func() error {
			f, err := os.OpenFile(path, flags, 0o600)
			if err == nil {
				_, err = f.WriteString("x")
				f.Close()
			}
			return err
		}
	}
	watches := func(path string) func() error {
		return func() error {
			fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
			if err == nil {
				_, err = unix.InotifyAddWatch(fd, path, unix.IN_ALL_EVENTS)
				unix.Close(fd)
			}
			return err
		}
	}
	return []escape{
		{name: "watch names", do: watches(outside)},
		{name: "watch a file", do: watches(outside + "/file")},
		{name: "watch names over a link", do: func() error {
			_ = os.Symlink(outside, inside+"/link")
			return watches(inside + "/link")()
		}},
		{name: "watch names over /proc/self/root", do: watches("/proc/self/root" + outside)},
		{name: "watch what is denied below a readable folder", do: watches(readable + "/denied")},
		{name: "watch what is denied below a writable folder", below: true, do: watches(inside + "/denied")},
		{name: "read", do: reads(outside + "/secret")},
		{name: "read over ..", do: reads(inside + "/../outside/secret")},
		{name: "read over a link", do: func() error {
			_ = os.Symlink(outside+"/secret", inside+"/link")
			return reads(inside + "/link")()
		}},
		{name: "read over /proc/self/root", do: func() error { return reads("/proc/self/root" + outside + "/secret")() }},
		{name: "read over /proc/self/cwd", do: reads("/proc/self/cwd/../outside/secret")},
		{name: "read what is denied below a readable folder", do: reads(readable + "/denied/secret")},
		{name: "read what is denied deep below a readable folder", do: reads(readable + "/sub/denied/secret")},
		{name: "read what is denied below a writable folder", below: true, do: reads(inside + "/denied/secret")},
		{name: "read what is denied deep below a writable folder", below: true, do: reads(inside + "/sub/denied/secret")},
		{name: "rename the parent of what is denied", below: true, do: func() error {
			if err := os.Rename(inside+"/sub", inside+"/other"); err != nil {
				return err
			}
			return reads(inside + "/other/denied/secret")()
		}},
		{name: "rename what is denied", below: true, do: func() error {
			if err := os.Rename(inside+"/denied", inside+"/other"); err != nil {
				return err
			}
			return reads(inside + "/other/secret")()
		}},
		{name: "link what is denied", below: true, do: func() error {
			if err := os.Link(inside+"/denied/secret", inside+"/other"); err != nil {
				return err
			}
			return reads(inside + "/other")()
		}},
		{name: "write what is fixed", below: true, do: write(inside+"/fixed/secret", os.O_WRONLY)},
		{name: "add to what is fixed", below: true, do: write(inside+"/sub/fixed/new", os.O_WRONLY|os.O_CREATE)},
		{name: "rename what is fixed", below: true, do: func() error { return os.Rename(inside+"/fixed", inside+"/other") }},
		{name: "rename the parent of what is fixed", below: true, do: func() error { return os.Rename(inside+"/sub", inside+"/other") }},
		{name: "exchange what is fixed", below: true, do: func() error {
			_ = os.Mkdir(inside+"/mine", 0o700)
			return unix.Renameat2(unix.AT_FDCWD, inside+"/mine", unix.AT_FDCWD, inside+"/fixed",
				unix.RENAME_EXCHANGE)
		}},
		{name: "remove what is fixed", below: true, do: func() error {
			if err := os.Remove(inside + "/fixed/secret"); err != nil {
				return err
			}
			return os.Remove(inside + "/fixed")
		}},
		{name: "write", do: write(outside+"/file", os.O_WRONLY)},
		{name: "append", do: write(outside+"/file", os.O_WRONLY|os.O_APPEND)},
		{name: "create", do: write(outside+"/new", os.O_WRONLY|os.O_CREATE)},
		{name: "write what is readable", do: write(readable+"/file", os.O_RDWR)},
		{name: "create in what is readable", do: write(readable+"/new", os.O_WRONLY|os.O_CREATE)},
		{name: "truncate by path", do: func() error { return os.Truncate(readable+"/file", 0) }},
		{name: "truncate at opening", do: func() error {
			fd, err := unix.Open(readable+"/file", unix.O_RDONLY|unix.O_TRUNC, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		{name: "remove", do: func() error { return os.Remove(readable + "/file") }},
		{name: "make a folder", do: func() error { return os.Mkdir(readable+"/new", 0o700) }},
		{name: "make a link", do: func() error { return os.Symlink("x", outside+"/new") }},
		{name: "make a socket file", do: func() error { return unix.Mknod(outside+"/new", unix.S_IFIFO|0o600, 0) }},
		{name: "move in", do: func() error { return os.Rename(outside+"/file", inside+"/moved") }},
		{name: "move out", do: func() error { return os.Rename(inside+"/file", outside+"/moved") }},
		{name: "link in and write", do: func() error {
			if err := os.Link(readable+"/file", inside+"/linked"); err != nil {
				return err
			}
			return write(inside+"/linked", os.O_WRONLY)()
		}},
		{name: "link out", do: func() error { return os.Link(inside+"/file", outside+"/linked") }},
		{name: "move a folder out", do: func() error { return os.Rename(inside+"/sub", outside+"/moved") }},
		{name: "run what lies outside", do: func() error {
			script := outside + "/program"
			_ = os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700)
			return exec.Command(script).Run()
		}},
		{name: "run a program from memory that reads", do: func() error {
			fd, err := unix.MemfdCreate("x", 0)
			if err != nil {
				return err
			}
			program, err := os.ReadFile(helper)
			if err != nil {
				return err
			}
			if _, err := unix.Write(fd, program); err != nil {
				return err
			}
			c := exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd))
			c.Env = append(os.Environ(), roleOf+"=attempt read")
			return c.Run()
		}},
		{name: "read what was left open", do: func() error {
			return reads("/proc/self/fd/" + os.Getenv("EXTRA"))()
		}},
		{name: "read the root of another", do: func() error { return reads(victimFile("root" + outside + "/secret"))() }},
		{name: "read the folder of another", do: func() error { return reads(victimFile("cwd/secret"))() }},
		{name: "read the environment of another", do: func() error { return reads(victimFile("environ"))() }},
		{name: "read an open file of another", do: func() error { return reads(victimFile("fd/7"))() }},
		{name: "read the maps of another", do: func() error { _, err := os.ReadFile(victimFile("maps")); return err }},
		{name: "open the memory of another", do: func() error { _, err := os.OpenFile(victimFile("mem"), os.O_RDWR, 0); return err }},
		{name: "read the environment of the supervisor", do: func() error {
			return reads("/proc/" + os.Getenv("RUNNER") + "/environ")()
		}},
		{name: "read the environment of the keeper", do: func() error {
			return reads(fmt.Sprintf("/proc/%d/environ", os.Getppid()))()
		}},
		{name: "open by handle", do: func() error {
			handle, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, readable, 0)
			if err != nil {
				return err
			}
			_, err = unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
			return err
		}},
	}
}

// modeOf is the metadata of what must not change.
func modeOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Mode(), info.ModTime())
}

func metadataAttempts() []escape {
	const file = readable + "/file"
	var out []escape
	add := func(name string, do func() error) { out = append(out, escape{name: name, do: do}) }
	opened := func(do func(fd int) error) func() error {
		return func() error {
			fd, err := unix.Open(file, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return do(fd)
		}
	}
	raw := func(nr uintptr, args ...any) func() error {
		return func() error {
			var a [6]uintptr
			for i, x := range args {
				switch x := x.(type) {
				case string:
					p, _ := unix.BytePtrFromString(x)
					a[i] = uintptr(unsafe.Pointer(p))
				case int:
					a[i] = uintptr(x)
				}
			}
			if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	add("chmod", func() error { return unix.Chmod(file, 0o777) })
	add("chmod of a folder", func() error { return unix.Chmod(readable, 0o777) })
	add("chmod over a link", func() error {
		_ = os.Symlink(file, inside+"/link")
		return unix.Chmod(inside+"/link", 0o777)
	})
	add("chmod of an open file", opened(func(fd int) error { return unix.Fchmod(fd, 0o777) }))
	add("chmod over /proc/self/fd", opened(func(fd int) error { return unix.Chmod(procPath(fd), 0o777) }))
	add("fchmodat", func() error { return unix.Fchmodat(unix.AT_FDCWD, file, 0o777, 0) })
	add("fchmodat2", raw(unix.SYS_FCHMODAT2, unix.AT_FDCWD, file, 0o777, 0))
	add("fchmodat2 of an open file",
		opened(func(fd int) error { return raw(unix.SYS_FCHMODAT2, fd, "", 0o777, unix.AT_EMPTY_PATH)() }))
	add("fchmodat2 of a file opened by path", func() error {
		fd, err := unix.Open(file, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return raw(unix.SYS_FCHMODAT2, fd, "", 0o777, unix.AT_EMPTY_PATH)()
	})
	for _, path := range []string{"/denied", "/fixed", "/sub/fixed/secret"} {
		out = append(out, escape{name: "chmod of " + path, below: true,
			do: func() error { return unix.Chmod(inside+path, 0o777) }})
	}
	add("chown", func() error { return unix.Chown(file, os.Getuid(), os.Getgid()) })
	add("lchown", func() error { return unix.Lchown(file, os.Getuid(), os.Getgid()) })
	add("fchown", opened(func(fd int) error { return unix.Fchown(fd, os.Getuid(), os.Getgid()) }))
	add("utimes", func() error { return os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)) })
	add("futimens", opened(func(fd int) error { return raw(unix.SYS_UTIMENSAT, fd, 0, 0, 0)() }))
	add("setxattr", func() error { return unix.Setxattr(file, "user.x", []byte("x"), 0) })
	add("fsetxattr", opened(func(fd int) error { return unix.Fsetxattr(fd, "user.x", []byte("x"), 0) }))
	add("setxattrat", func() error {
		value := []byte("x")
		args := struct {
			value       uint64
			size, flags uint32
		}{uint64(uintptr(unsafe.Pointer(&value[0]))), 1, 0}
		path, _ := unix.BytePtrFromString(file)
		name, _ := unix.BytePtrFromString("user.x")
		_, _, errno := unix.Syscall6(unix.SYS_SETXATTRAT, ^uintptr(99), uintptr(unsafe.Pointer(path)), 0,
			uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args))
		if errno != 0 {
			return errno
		}
		return nil
	})
	add("flags of an open file", opened(func(fd int) error {
		flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
		if err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|0x40) // no dump
	}))
	add("a program that runs as its owner", func() error { return unix.Chmod(inside+"/file", 0o4755) })
	add("a new program that runs as its owner", func() error {
		fd, err := unix.Open(inside+"/new", unix.O_CREAT|unix.O_WRONLY, 0o4755)
		if err != nil {
			return err
		}
		unix.Close(fd)
		if !strings.HasPrefix(modeOf(inside+"/new"), "u") {
			return errors.New("it does not")
		}
		return nil
	})
	add("a new program without a name that runs as its owner", func() error {
		fd, err := unix.Open(inside, unix.O_TMPFILE|unix.O_WRONLY, 0o4755)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD,
			inside+"/unnamed", unix.AT_SYMLINK_FOLLOW)
	})
	return out
}
