//go:build unix

package run

import (
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
