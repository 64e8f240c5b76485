package walls

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	tcpPort = 7001
	udpPort = 7002
)

// victim is a program outside that holds a secret, and notes who reaches it.
func victim(string) error {
	reached := func(how string) { _ = os.WriteFile(outside+"/reached-"+how, nil, 0o600) }
	secretFile, err := os.Open(outside + "/secret")
	if err != nil {
		return err
	}
	if err := unix.Dup2(int(secretFile.Fd()), 7); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGUSR1, unix.SIGIO)
	go func() {
		for range signals {
			reached("signal")
		}
	}()
	for name, at := range map[string]string{"tcp": "tcp4 127.0.0.1:7001", "tcp6": "tcp6 [::1]:7001",
		"stream": "unix " + inside + "/stream", "abstract": "unix @confine-victim"} {
		var network, address string
		_, _ = fmt.Sscan(at, &network, &address)
		l, err := net.Listen(network, address)
		if err != nil {
			if name == "tcp6" { // a machine without
				continue
			}
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					if n, _ := c.Read(make([]byte, 1)); n > 0 || network[:3] == "tcp" {
						reached(name)
					}
					c.Close()
				}()
			}
		}()
	}
	for name, at := range map[string]string{"udp": "udp4 127.0.0.1:7002",
		"dgram": "unixgram " + inside + "/dgram"} {
		var network, address string
		_, _ = fmt.Sscan(at, &network, &address)
		p, err := net.ListenPacket(network, address)
		if err != nil {
			return err
		}
		go func() {
			for {
				if _, _, err := p.ReadFrom(make([]byte, 1)); err != nil {
					return
				}
				reached(name)
			}
		}()
	}
	if tty, err := terminalOf(); err == nil {
		_ = os.WriteFile(readable+"/tty", []byte(tty), 0o644)
	}
	if err := share(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// share puts the secret into memory that has a number, and makes a message queue.
func share() error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		return err
	}
	memory, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	copy(memory, secret)
	name, _ := unix.BytePtrFromString("confine-victim")
	_, _, _ = unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600,
		0, 0, 0)
	return os.WriteFile(readable+"/shm", []byte(strconv.Itoa(id)), 0o644)
}

// terminalOf makes a terminal and says its name.
func terminalOf() (string, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return "/dev/pts/" + strconv.Itoa(n), err
}

// seen says on the victim whether it was reached.
func seen(how string) func(int) error {
	return func(int) error {
		for range 20 {
			if _, err := os.Stat(outside + "/reached-" + how); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond) // a file outside has no event here
		}
		return errors.New("not reached")
	}
}

func victimPID() int {
	n, _ := strconv.Atoi(os.Getenv("VICTIM"))
	return n
}

// sleepOn does not end by itself, nor at a polite signal.
func sleepOn(string) error {
	signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	time.Sleep(time.Minute) // it is ended
	return nil
}

// whoami prints as whom it runs.
func whoami(string) error {
	fmt.Print(os.Geteuid())
	return nil
}

// leaves starts a sleeper and goes.
func leaves(attr *syscall.SysProcAttr, wrap ...string) func() error {
	return func() error {
		boxed := os.Getenv("BOXED")
		c := again("sleep " + boxed)
		if len(wrap) > 0 {
			c.Path, c.Args = wrap[0], append(wrap, self())
		}
		c.SysProcAttr = attr
		if err := c.Start(); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // until it runs on its own
		if boxed != "" {
			return errors.New("whether it is gone is seen from outside")
		}
		return nil
	}
}

func processAttempts() []escape {
	raw := func(nr uintptr, args func() [6]uintptr) func() error {
		return func() error {
			a := args()
			if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	pid := func() uintptr { return uintptr(victimPID()) }
	info := &[16]uint64{uint64(unix.SIGUSR1)}
	*(*int32)(unsafe.Pointer(&info[1])) = -1 // si_code: queued
	limit := &unix.Rlimit{Cur: 64, Max: 64}
	mask := &[16]uint64{1}
	param := &[16]uint32{}
	return []escape{
		{name: "kill", do: func() error { return unix.Kill(victimPID(), unix.SIGUSR1) }},
		{name: "kill a group", do: func() error {
			group, err := unix.Getpgid(victimPID())
			if err != nil {
				return err
			}
			return errors.Join(unix.Kill(-group, unix.SIGIO), errors.New("seen on the victim"))
		}, on: seen("signal")},
		{name: "kill all", do: func() error {
			signal.Ignore(unix.SIGIO)
			return errors.Join(unix.Kill(-1, unix.SIGIO), errors.New("seen on the victim"))
		}, on: seen("signal")},
		{name: "kill the keeper", do: func() error {
			return errors.Join(unix.Kill(os.Getppid(), unix.SIGSTOP), unix.Kill(os.Getppid(), unix.SIGCONT))
		}},
		{name: "tkill", do: raw(unix.SYS_TKILL, func() [6]uintptr { return [6]uintptr{pid(), uintptr(unix.SIGUSR1)} })},
		{name: "tgkill", do: func() error { return unix.Tgkill(victimPID(), victimPID(), unix.SIGUSR1) }},
		{name: "rt_sigqueueinfo", do: raw(unix.SYS_RT_SIGQUEUEINFO, func() [6]uintptr {
			return [6]uintptr{pid(), uintptr(unix.SIGUSR1), uintptr(unsafe.Pointer(info))}
		})},
		{name: "pidfd_send_signal", do: func() error {
			fd, err := unix.PidfdOpen(victimPID(), 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGUSR1, nil, 0)
		}},
		{name: "signal by input", do: func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			_, _ = unix.FcntlInt(uintptr(pair[0]), unix.F_SETOWN, victimPID())
			_, _ = unix.FcntlInt(uintptr(pair[0]), unix.F_SETFL, unix.O_ASYNC)
			_, _ = unix.Write(pair[1], []byte("x"))
			return errors.New("seen on the victim")
		}, on: seen("signal")},
		{name: "ptrace", do: func() error { return unix.PtraceSeize(victimPID()) }},
		{name: "process_vm_readv", do: func() error {
			buf := make([]byte, 16)
			_, err := unix.ProcessVMReadv(victimPID(), []unix.Iovec{{Base: &buf[0], Len: 16}},
				[]unix.RemoteIovec{{Base: 0x400000, Len: 16}}, 0)
			return err
		}},
		{name: "take a file of another", do: func() error {
			fd, err := unix.PidfdOpen(victimPID(), 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 7, 0)
			return err
		}},
		{name: "prlimit", do: raw(unix.SYS_PRLIMIT64, func() [6]uintptr {
			return [6]uintptr{pid(), unix.RLIMIT_CORE, uintptr(unsafe.Pointer(limit))}
		})},
		{name: "setpriority", do: func() error { return unix.Setpriority(unix.PRIO_PROCESS, victimPID(), 19) }},
		{name: "setpriority of a user", do: func() error { return unix.Setpriority(unix.PRIO_USER, 0, 19) }},
		{name: "ioprio_set", do: raw(unix.SYS_IOPRIO_SET, func() [6]uintptr { return [6]uintptr{1, pid(), 3 << 13} })},
		{name: "sched_setaffinity", do: raw(unix.SYS_SCHED_SETAFFINITY, func() [6]uintptr {
			return [6]uintptr{pid(), 8, uintptr(unsafe.Pointer(mask))}
		})},
		{name: "sched_setscheduler", do: raw(unix.SYS_SCHED_SETSCHEDULER, func() [6]uintptr {
			return [6]uintptr{pid(), 5, uintptr(unsafe.Pointer(param))}
		})},
		{name: "leave a process", do: leaves(nil)},
		{name: "leave a process in a session of its own", do: leaves(&syscall.SysProcAttr{Setsid: true})},
		{name: "leave a process in a group of its own", do: leaves(&syscall.SysProcAttr{Setpgid: true})},
		{name: "leave a process by nohup, twice forked", do: leaves(nil, "/bin/sh", "-c", `(setsid nohup "$0" >/dev/null 2>&1 &) &`)},
		{name: "leave a stopped process", do: func() error {
			boxed := os.Getenv("BOXED")
			c := again("sleep " + boxed)
			if err := c.Start(); err != nil {
				return err
			}
			if err := c.Process.Signal(unix.SIGSTOP); err != nil || boxed == "" {
				return err
			}
			return errors.New("whether it is gone is seen from outside")
		}},
		{name: "a program that runs as another", do: func() error {
			c := exec.Command(helper + "-setuid")
			c.Env = append(os.Environ(), roleOf+"=whoami")
			out, err := c.Output()
			if err == nil && string(out) == strconv.Itoa(os.Getuid()) {
				err = errors.New("it runs as who started it")
			}
			return err
		}},
	}
}
