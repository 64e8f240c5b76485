package walls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

// takeListener waits until the child hands over its system calls.
func (r *run) takeListener() error {
	for handed := -1; r.command == 0 || handed < 0; {
		m, err := r.nextMessage()
		switch {
		case err != nil:
			return fmt.Errorf("%w: the child was lost: %w", errUnfit, err)
		case m.kind == msgKeeper:
			r.command = int(m.a)
		case m.kind == msgResult:
			handed = int(m.b)
		case m.kind == msgFailure:
			return r.stepFailure(m)
		}
		if r.command != 0 && handed >= 0 {
			pidfd, err := unix.PidfdOpen(r.command, 0)
			if err == nil {
				r.listener, err = unix.PidfdGetfd(pidfd, handed, 0)
				unix.Close(pidfd)
			}
			if err != nil {
				return fmt.Errorf("%w: take over system calls: %w", errUnfit, err)
			}
		}
	}
	// The thread of the command is woken where the answer was written: half the time of a call.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), ioctlSetFlags,
		unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	return nil
}

// nextMessage reads the next message of the child and its keeper.
func (r *run) nextMessage() (m message, err error) {
	var buf [12]byte
	n, err := unix.Read(r.report, buf[:])
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(r.report, buf[:])
	}
	if err == nil && n != len(buf) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return m, err
	}
	for i, to := range []*int32{&m.kind, &m.a, &m.b} {
		*to = int32(binary.NativeEndian.Uint32(buf[4*i:]))
	}
	return m, nil
}

// stepFailure returns the error of a step that failed.
func (r *run) stepFailure(m message) error {
	errno := unix.Errno(m.b)
	o := op{what: "make a namespace", part: PartBelow}
	if m.a >= 0 {
		o = r.plan.ops[m.a]
	}
	switch {
	case o.what == stepRun && (errno == unix.ENOENT || errno == unix.ENOTDIR):
		return &stepError{r.box.Command[0], errno, ""}
	case o.what == stepRun && errno == unix.EACCES:
		return fmt.Errorf("%w: it cannot be run, or it may not be read here", &stepError{r.box.Command[0],
			errno, ""})
	case o.what == stepRun:
		return &stepError{r.box.Command[0], errno, ""}
	case strings.HasPrefix(o.what, "enter "):
		return &stepError{o.what, errno, o.part}
	}
	return fmt.Errorf("%w: %w", errUnfit, &stepError{o.what, errno, o.part})
}

// exitCode returns the exit code of a run that did not begin.
func exitCode(err error) int {
	switch {
	case errors.Is(err, errUnfit):
		return ExitUnfit
	case errors.Is(err, unix.ENOENT):
		return exitNotFound
	case errors.As(err, new(*stepError)):
		return exitNotRun
	}
	return ExitUnfit
}

// stepError means that a step of the child failed.
type stepError struct {
	what  string
	errno unix.Errno
	part  Part // what cannot be enforced then, if that may be missing
}

func partOf(err error) Part {
	var step *stepError
	if errors.As(err, &step) {
		return step.part
	}
	return ""
}

func (e *stepError) Error() string { return e.what + ": " + e.errno.Error() }
func (e *stepError) Unwrap() error { return e.errno }
