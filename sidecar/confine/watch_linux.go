package confine

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how often a tree is counted.
const pace = 250 * time.Millisecond

// getTermios asks a terminal how it is set; what is none fails.
const getTermios = unix.TCGETS

// watch ends a run that is over its limits. What it returns ends the watch.
func (l Limits) watch(r *run) (end func()) {
	if l.Time == 0 && l.Processes == 0 && l.Memory == 0 {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		var late <-chan time.Time
		if l.Time > 0 {
			timer := time.NewTimer(l.Time)
			defer timer.Stop()
			late = timer.C
		}
		for {
			select {
			case <-done:
				return
			case <-late:
				r.stop(fmt.Errorf("ended: it took longer than its limit of %s", l.Time))
				return
			case <-ticker.C:
				if err := l.over(descendants(r.keeper)); err != nil {
					r.stop(err)
					return
				}
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

// overflow ends a run with too much output. What it returns ends the watch.
func (p *pipes) overflow(r *run) (end func()) {
	if !p.bound {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-done:
		case <-p.full:
			r.stop(errFull)
		}
	})
	return func() { close(done); watching.Wait() }
}

// over says what a tree has too much of.
func (l Limits) over(tree []int) error {
	if l.Processes > 0 && len(tree) > l.Processes {
		return fmt.Errorf("ended: it had %d processes, and its limit is %d", len(tree), l.Processes)
	}
	if l.Memory > 0 {
		var all int64
		for _, pid := range tree {
			all += resident(pid)
		}
		if all > l.Memory {
			return fmt.Errorf("ended: it used %d MB of memory, and its limit is %d MB", all>>20, l.Memory>>20)
		}
	}
	return nil
}

// resident is the memory that a process has to itself and in shared memory; files are not counted.
func resident(pid int) (n int64) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(text)) {
		for _, key := range []string{"RssAnon:", "RssShmem:"} {
			if rest, ok := strings.CutPrefix(line, key); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				n += kb << 10
			}
		}
	}
	return n
}

// forwardSignals gives signals to the command that were meant for it. What a terminal sends
// reaches the whole group, the command among it, and is not given twice.
func forwardSignals(command int) (end func()) {
	got := make(chan os.Signal, 16)
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH} {
		if !signal.Ignored(s) { // nohup
			signal.Notify(got, s)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for s := range got {
			typed := s == unix.SIGINT || s == unix.SIGQUIT || s == unix.SIGHUP || s == unix.SIGWINCH
			if !typed || !inForeground() {
				_ = unix.Kill(command, s.(unix.Signal))
			}
		}
	}()
	return func() { signal.Stop(got); close(got); <-gone }
}

// inForeground says whether this group is the one that a terminal sends its signals to.
func inForeground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
