package walls

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernel is what was learnt of this one.
type kernel struct{}

const (
	sandboxExec = "/usr/bin/sandbox-exec"
	getTermios  = unix.TIOCGETA
	// grace is how long what COMMAND left may take to end by itself.
	grace = 300 * time.Millisecond
)

// Run runs the command of a box and returns its exit code, 128 and the number of a signal if
// that ended it. What is left of its group of processes ends with it. An error says why it
// did not run, or was ended. A process runs one command: limits hold for it as well.
func Run(b Box, std Streams) (int, error) {
	if !b.Untried {
		return ExitUnfit, fmt.Errorf("%w without --untried: %s", errUnfit, untried)
	}
	b, err := b.normalize()
	if err != nil {
		return ExitUnfit, err
	}
	program, code, err := b.program()
	if err != nil {
		return code, err
	}
	profile, err := b.seatbelt()
	if err != nil {
		return ExitUnfit, err
	}
	if (b.Limits.Memory > 0 || b.Limits.Processes > 0) && !b.lenient(partLimits) {
		return ExitUnfit, fmt.Errorf("%w to a limit of memory or processes: leave these out", errUnfit)
	}
	for resource, most := range map[int]int64{syscall.RLIMIT_FSIZE: b.Limits.File,
		syscall.RLIMIT_NOFILE: int64(b.Limits.Open)} {
		if most > 0 {
			// fails where it is lower already
			_ = syscall.Setrlimit(resource, &syscall.Rlimit{Cur: uint64(most), Max: uint64(most)})
		}
	}
	pipes, err := std.open(b.Limits.Output)
	if err != nil {
		return ExitUnfit, err
	}
	defer pipes.finish()
	pid, err := syscall.ForkExec(sandboxExec, slices.Concat([]string{sandboxExec, "-p", profile, program},
		b.Command[1:]), &syscall.ProcAttr{
		Dir: b.Dir, Env: b.Env, Sys: &syscall.SysProcAttr{Setpgid: true},
		Files: []uintptr{uintptr(pipes.fds[0]), uintptr(pipes.fds[1]), uintptr(pipes.fds[2])},
	})
	if err != nil {
		return ExitUnfit, fmt.Errorf("%w: %s: %w", errUnfit, sandboxExec, err)
	}
	defer func() {
		endGroup(pid)
		time.AfterFunc(grace, pipes.cut) // what has left the group may hold them
	}()
	full := make(chan struct{}, 1)
	pipes.startCopy(func() {
		select {
		case full <- struct{}{}:
		default: // it was said before
		}
	})
	return b.Limits.wait(pid, full)
}

// wait waits for a command and gives signals to its group. It ends what is over its limits.
func (l Limits) wait(pid int, full <-chan struct{}) (int, error) {
	ended := make(chan unix.WaitStatus)
	go func() {
		var status unix.WaitStatus
		for {
			if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
				ended <- status
				return
			}
		}
	}()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	defer signal.Stop(signals)
	var late <-chan time.Time
	if l.Time > 0 {
		late = time.After(l.Time)
	}
	var why error
	for {
		select {
		case s := <-signals:
			_ = unix.Kill(-pid, s.(unix.Signal))
			continue
		case <-late:
			why = fmt.Errorf("ended: it took longer than its limit of %s", l.Time)
		case <-full:
			why, full = errFull, nil
		case status := <-ended:
			switch {
			case why != nil:
				return 128 + int(unix.SIGKILL), why
			case status.Signaled():
				return 128 + int(status.Signal()), nil
			}
			return status.ExitStatus(), nil
		}
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

// endGroup ends what is left of a group of processes: first in peace.
func endGroup(pid int) {
	_ = unix.Kill(-pid, unix.SIGTERM)
	for end := time.Now().Add(grace); time.Now().Before(end) && unix.Kill(-pid, 0) == nil; {
		time.Sleep(2 * time.Millisecond)
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
}

// cut ends copying, though a process may still write.
func (p *pipes) cut() {
	for _, f := range p.outputs {
		f.from.Close()
	}
}

// resolve returns a path without links, as the kernel names it: ten times faster than looking at each
// part.
func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return onDisk(path), nil
}
