//go:build unix

package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// setGroup starts the command in a process group, which a canceled context kills.
func setGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills what the command has left behind.
func killGroup(c *exec.Cmd) {
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // mostly the group has ended
	}
}

// lockFile keeps other processes from writing to a run until the file is closed.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), errRunHeld)
	}
	return err
}
