//go:build unix

package service

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals gives the signals at which a process hands over, until stop is called.
func Signals() (wanted <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	return c, func() { signal.Stop(c) }
}

// keepToItself keeps a file from the programs that this process starts.
func keepToItself(fd int) { syscall.CloseOnExec(fd) }

// Socket is a listener as a file to give away. Its own method File will not do: what takes that file's number
// makes the socket block, in this process, too, which then could not stop accepting.
func Socket(name string, l net.Listener) (f PassedFile, err error) {
	fail := func(err error) (PassedFile, error) {
		return PassedFile{}, fmt.Errorf("hand over the socket %s: %w", name, err)
	}
	c, ok := l.(syscall.Conn)
	if !ok {
		return fail(fmt.Errorf("one of %s has no file", l.Addr().Network()))
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fail(err)
	}
	fd, duplicated := 0, error(nil)
	err = raw.Control(func(socket uintptr) {
		fd, duplicated = unix.FcntlInt(socket, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(err, duplicated); err != nil {
		return fail(err)
	}
	return PassedFile{name, os.NewFile(uintptr(fd), name)}, nil
}
