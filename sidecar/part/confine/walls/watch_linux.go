package walls

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// countInterval is how often a tree is counted.
const countInterval = 250 * time.Millisecond

// limitWatch checks the limits of a run.
type limitWatch struct {
	Limits
	late, count time.Time // when the next check is due; zero: never
}

func (l Limits) newWatch(now time.Time) *limitWatch {
	w := &limitWatch{Limits: l}
	if l.Time > 0 {
		w.late = now.Add(l.Time)
	}
	if l.Processes > 0 || l.Memory > 0 {
		w.count = now.Add(countInterval)
	}
	return w
}

// pause returns how many milliseconds may pass until the next check; -1: any number.
func (w *limitWatch) pause(now time.Time) int {
	next := w.count
	if next.IsZero() || !w.late.IsZero() && w.late.Before(next) {
		next = w.late
	}
	if next.IsZero() {
		return -1
	}
	return int(min(max(0, next.Sub(now)+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
}

// over returns the first limit that is exceeded, once.
func (w *limitWatch) over(now time.Time, keeper int) (err error) {
	switch {
	case !w.late.IsZero() && !now.Before(w.late):
		err = fmt.Errorf("ended: it took longer than its limit of %s", w.Time)
	case !w.count.IsZero() && !now.Before(w.count):
		err = w.exceeded(descendants(keeper))
		w.count = now.Add(countInterval)
	}
	if err != nil {
		w.late, w.count = time.Time{}, time.Time{}
	}
	return err
}

// exceeded returns the limit that a tree exceeds.
func (l Limits) exceeded(tree []int) error {
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

// resident returns the private and shared memory of a process, without files.
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

// forwardSignals passes signals on to the command. A terminal sends its signals to the whole group,
// with the command in it, so these are not passed on.
func forwardSignals(command int) (end func()) {
	got := make(chan os.Signal, 16)
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1,
		unix.SIGUSR2, unix.SIGWINCH} {
		if !signal.Ignored(s) { // nohup
			signal.Notify(got, s)
		}
	}
	var giving sync.Mutex
	ended := false // its pid may be another process's then
	go func() {
		for s := range got {
			typed := s == unix.SIGINT || s == unix.SIGQUIT || s == unix.SIGHUP || s == unix.SIGWINCH
			giving.Lock()
			if !ended && (!typed || !inForeground()) {
				_ = unix.Kill(command, s.(unix.Signal))
			}
			giving.Unlock()
		}
	}()
	return func() {
		signal.Stop(got)
		close(got)
		giving.Lock()
		ended = true
		giving.Unlock()
	}
}

// inForeground reports whether a terminal sends its signals to this group.
func inForeground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
