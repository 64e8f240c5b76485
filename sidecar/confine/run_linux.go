package confine

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Run runs the command of a box and returns its exit code, 128 and the number of a signal
// if that ended it. When it returns, nothing that the command started is left. An error
// says why it did not run, or was ended. Signals to this process go to the command, and
// records are named by its pid, so a process runs one command at a time.
func Run(b Box, std Streams) (int, error) {
	b, err := b.checked()
	if err != nil {
		return ExitUnfit, err
	}
	program, code, err := b.program()
	if err != nil {
		return code, err
	}
	offer, err := quick()
	if err != nil {
		return ExitUnfit, err
	}
	records, err := openRecords(b.Records, b.Session)
	if err != nil {
		return ExitUnfit, err
	}
	defer records.close()
	pipes, err := std.open(b.Limits.Output)
	if err != nil {
		return ExitUnfit, err
	}
	runtime.LockOSThread() // the keeper ends what is left when this thread ends
	defer runtime.UnlockOSThread()
	r := &run{box: b, records: records, pipes: pipes}
	defer r.pipes.finish()
	err = r.begin(start{program: program, streams: pipes.fds, offer: offer})
	if part := partOf(err); part != "" && b.lenient(part) {
		err = r.begin(start{program: program, streams: pipes.fds, offer: offer, without: part})
	}
	if err != nil {
		return codeOf(err), err
	}
	return r.wait()
}

// run is a command that runs, and what watches over it.
type run struct {
	box             Box
	plan            *plan
	records         *records
	pipes           *pipes
	keeper, command int
	listener        int
	report          int // where the child and the keeper tell what happens
	deputy          *deputy

	stopping sync.Mutex
	why      error // why it was ended
}

// stepError is a step of the child that failed.
type stepError struct {
	what  string
	errno unix.Errno
	part  Part // what cannot be enforced then, if one may do without
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

// begin forks, and takes over the system calls of the child before its command begins.
func (r *run) begin(s start) error {
	var report, gate [2]int
	for _, pipe := range []*[2]int{&report, &gate} {
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("make a pipe: %w", err)
		}
	}
	defer unix.Close(gate[1])
	s.gate, r.report = gate[0], report[0]
	plan, err := r.box.plan(s)
	if r.plan = plan; err == nil {
		r.keeper, err = spawn(plan, report[1])
		plan.close()
	}
	unix.Close(report[1])
	unix.Close(gate[0])
	if err != nil {
		unix.Close(r.report)
		return err
	}
	if err := r.adopt(s.offer); err != nil {
		r.end()
		return err
	}
	_, err = unix.Write(gate[1], []byte{1})
	return err
}

// adopt waits until the child hands over its system calls, and begins to answer them.
func (r *run) adopt(offer Offer) error {
	for handed := -1; r.command == 0 || handed < 0; {
		m, err := r.next()
		switch {
		case err != nil:
			return fmt.Errorf("%w: the child was lost: %w", ErrUnfit, err)
		case m.kind == saidKeeper:
			r.command = int(m.a)
		case m.kind == saidResult:
			handed = int(m.b)
		case m.kind == saidFailure:
			return r.step(m)
		}
		if r.command != 0 && handed >= 0 {
			pidfd, err := unix.PidfdOpen(r.command, 0)
			if err == nil {
				r.listener, err = unix.PidfdGetfd(pidfd, handed, 0)
				unix.Close(pidfd)
			}
			if err != nil {
				return fmt.Errorf("%w: take over system calls: %w", ErrUnfit, err)
			}
		}
	}
	d := &deputy{
		box: r.box, records: r.records, listener: r.listener, keeper: r.keeper, desk: desk(), waiting: map[int]bool{},
		apart: r.plan.flags != 0, scoped: offer.landlock.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0,
	}
	// The thread of the command is woken where the answer was written: half the time of a call.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), ioctlSetFlags, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	d.threads.Go(d.serve)
	r.deputy = d
	return nil
}

// next is the next message of the child and its keeper.
func (r *run) next() (m message, err error) {
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

// step is the error of a step that failed.
func (r *run) step(m message) error {
	errno := unix.Errno(m.b)
	o := op{what: "make a namespace", part: PartBelow}
	if m.a >= 0 {
		o = r.plan.ops[m.a]
	}
	switch {
	case o.what == stepRun && (errno == unix.ENOENT || errno == unix.ENOTDIR):
		return &stepError{r.box.Command[0], errno, ""}
	case o.what == stepRun && errno == unix.EACCES:
		return fmt.Errorf("%w: it cannot be run, or it may not be read here", &stepError{r.box.Command[0], errno, ""})
	case o.what == stepRun:
		return &stepError{r.box.Command[0], errno, ""}
	case strings.HasPrefix(o.what, "enter "):
		return &stepError{o.what, errno, o.part}
	}
	return fmt.Errorf("%w: %w", ErrUnfit, &stepError{o.what, errno, o.part})
}

// codeOf is the exit code of a run that did not begin.
func codeOf(err error) int {
	switch {
	case errors.Is(err, ErrUnfit):
		return ExitUnfit
	case errors.Is(err, unix.ENOENT):
		return ExitNotFound
	case errors.As(err, new(*stepError)):
		return ExitNotRun
	}
	return ExitUnfit
}

// wait waits for the command, and ends what is left of it.
func (r *run) wait() (int, error) {
	defer r.end()
	defer forwardSignals(r.command)()
	defer r.box.Limits.watch(r)()
	defer r.pipes.overflow(r)()
	var failed error
	for {
		m, err := r.next()
		switch {
		case err != nil:
			return ExitUnfit, fmt.Errorf("%w: the keeper was lost: %w", ErrUnfit, err)
		case m.kind == saidFailure:
			failed = r.step(m)
		case m.kind == saidEnd && failed != nil:
			return codeOf(failed), failed
		case m.kind == saidEnd:
			return r.outcome(unix.WaitStatus(m.a))
		}
	}
}

// stop ends the command and says why.
func (r *run) stop(why error) {
	r.stopping.Lock()
	if r.why == nil {
		r.why = why
	}
	r.stopping.Unlock()
	killBelow(r.keeper)
}

// outcome is the exit code for how the command ended.
func (r *run) outcome(status unix.WaitStatus) (int, error) {
	r.stopping.Lock()
	defer r.stopping.Unlock()
	select {
	case <-r.pipes.full: // it may have ended by itself, for want of a reader
		r.why = cmp.Or(r.why, errFull)
	default:
	}
	switch {
	case r.why != nil:
		return 128 + int(unix.SIGKILL), r.why
	case status.Signaled():
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// end ends what the command left, then the keeper, which has nothing to keep any more.
func (r *run) end() {
	endBelow(r.keeper)
	_ = unix.Kill(r.keeper, unix.SIGKILL)
	_, _ = unix.Wait4(r.keeper, nil, 0, nil)
	if r.deputy != nil {
		r.deputy.end()
	}
	unix.Close(r.report)
	if r.listener > 0 {
		unix.Close(r.listener)
	}
}
