package walls

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// children returns the processes that one has started, and those that were left to it.
func children(pid int) (out []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + thread.Name() + "/children")
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// descendants returns all processes below one.
func descendants(pid int) []int {
	out := children(pid)
	for i := 0; i < len(out); i++ {
		out = append(out, children(out[i])...)
	}
	return out
}

// stat returns the parent and the group of a process.
func stat(pid int) (parent, group int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	s := string(text) // pid (name) state parent group …, and the name may hold anything
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 3 {
		return 0, 0, errors.New("/proc tells nothing of the process")
	}
	parent, _ = strconv.Atoi(f[1])
	group, _ = strconv.Atoi(f[2])
	return parent, group, nil
}

// hasAncestor reports whether a process or one of its ancestors meets a condition.
func hasAncestor(pid int, is func(int) bool) bool {
	for range 4096 {
		if pid <= 0 {
			return false
		}
		if is(pid) {
			return true
		}
		parent, _, err := stat(pid)
		if err != nil {
			return false
		}
		pid = parent
	}
	return false
}

// grace is how long what COMMAND left may take to end by itself.
const grace = 300 * time.Millisecond

// endBelow ends all processes below one, first with SIGTERM.
func endBelow(pid int) {
	all := descendants(pid)
	if len(all) == 0 {
		return
	}
	for _, p := range all {
		_ = unix.Kill(p, unix.SIGTERM)
		_ = unix.Kill(p, unix.SIGCONT)
	}
	for end := time.Now().Add(grace); time.Now().Before(end) && len(descendants(pid)) > 0; {
		time.Sleep(2 * time.Millisecond)
	}
	killBelow(pid)
}

// killBelow kills all processes below one.
func killBelow(pid int) {
	for {
		all := descendants(pid)
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			_ = unix.Kill(p, unix.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}
