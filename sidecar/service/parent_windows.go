package service

import (
	"os"
	"syscall"
)

// Parent is the process that started this one. Its zero value is none.
type Parent struct{ process *os.Process }

// Find finds the process that started this one. It must be asked early: of a parent that has gone
// before, nothing is known. Windows does not say that a parent has gone, and gives its pid to
// another process; who is younger than we are is no parent.
func Find() Parent {
	process, err := os.FindProcess(os.Getppid())
	if err != nil {
		return Parent{}
	}
	p := Parent{process}
	theirs := int64(0)
	p.with(func(h syscall.Handle) { theirs = born(h) })
	self, err := syscall.GetCurrentProcess()
	if ours := born(self); err != nil || theirs == 0 || theirs > ours {
		return Parent{}
	}
	return p
}

// born is when a process began; 0: it is not known.
func born(h syscall.Handle) int64 {
	var began, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil {
		return 0
	}
	return began.Nanoseconds()
}

// with runs f with the handle of the process, if there is one.
func (p Parent) with(f func(syscall.Handle)) {
	_ = p.process.WithHandle(func(h uintptr) { f(syscall.Handle(h)) }) // f is not run where there is none
}

// Known reports whether there is a process that can go.
func (p Parent) Known() bool { return p.process != nil }

// ID is the pid of the process whose end is waited for.
func (p Parent) ID() int {
	if !p.Known() {
		return os.Getppid()
	}
	return p.process.Pid
}

func (p Parent) lives() bool {
	if !p.Known() {
		return true
	}
	lives := false
	p.with(func(h syscall.Handle) {
		event, err := syscall.WaitForSingleObject(h, 0)
		lives = err == nil && event == syscall.WAIT_TIMEOUT
	})
	return lives
}
