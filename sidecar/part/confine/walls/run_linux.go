package walls

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs the command of a box and returns its exit code, 128 and the number of a signal
// if that ended it. When it returns, nothing that the command started is left. An error
// says why it did not run, or was ended. Signals to this process go to the command, and
// records are named by its pid, so a process runs one command at a time.
func Run(b Box, std Streams) (int, error) {
	b, err := b.normalize()
	if err != nil {
		return ExitUnfit, err
	}
	program, code, err := b.program()
	if err != nil {
		return code, err
	}
	offer, err := quickProbe()
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
	r := &run{box: b, offer: offer, records: records, pipes: pipes}
	defer r.pipes.finish()
	err = r.begin(planInput{program: program, streams: pipes.fds, offer: offer})
	if part := partOf(err); part != "" && b.lenient(part) {
		err = r.begin(planInput{program: program, streams: pipes.fds, offer: offer, without: part})
	}
	if err != nil {
		return exitCode(err), err
	}
	return r.wait()
}

// run is a running command with its supervisor.
type run struct {
	box             Box
	offer           Offer
	plan            *plan
	childState      *childState
	records         *records
	pipes           *pipes
	keeper, command int
	listener        int
	report          int // pipe for messages of the child and the keeper
	supervisor      *supervisor
	alone           bool // the keeper has ended, and nothing is left

	stopping sync.Mutex
	why      error // why it was stopped
}

// begin starts the child and takes over its system calls before the command begins.
func (r *run) begin(s planInput) error {
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
		r.keeper, r.childState, err = spawn(plan, report[1])
		plan.close()
	}
	unix.Close(report[1])
	unix.Close(gate[0])
	if err != nil {
		unix.Close(r.report)
		return err
	}
	if err := r.takeListener(); err != nil {
		r.end()
		return err
	}
	_, err = unix.Write(gate[1], []byte{1})
	return err
}

// wait waits for the command and ends what it left. It uses one thread, and the supervisor gets others
// when it is first asked: threads are most of the start's time.
func (r *run) wait() (int, error) {
	defer r.end()
	defer forwardSignals(r.command)()
	r.pipes.startCopy(func() { r.stop(errFull) })
	watch := r.box.Limits.newWatch(time.Now())
	fds := []unix.PollFd{{Fd: int32(r.report), Events: unix.POLLIN},
		{Fd: int32(r.listener), Events: unix.POLLIN}}
	var failed error
	for {
		if _, err := unix.Poll(fds, watch.pause(time.Now())); err != nil {
			if !errors.Is(err, unix.EINTR) {
				return ExitUnfit, fmt.Errorf("%w: wait for the command: %w", errUnfit, err)
			}
			continue
		}
		if err := watch.over(time.Now(), r.keeper); err != nil {
			r.stop(err)
		}
		if fds[1].Revents != 0 { // a process asks, or none is left that could
			r.startSupervisor()
			fds[1].Fd = -1
		}
		if fds[0].Revents == 0 {
			continue
		}
		m, err := r.nextMessage()
		switch {
		case err != nil:
			return ExitUnfit, fmt.Errorf("%w: the keeper was lost: %w", errUnfit, err)
		case m.kind == msgFailure:
			failed = r.stepFailure(m)
		case m.kind == msgEnd:
			r.alone = m.b == 1
			if failed != nil {
				return exitCode(failed), failed
			}
			return r.result(unix.WaitStatus(m.a))
		}
	}
}

// stop kills the command and notes why.
func (r *run) stop(why error) {
	r.stopping.Lock()
	defer r.stopping.Unlock()
	r.why = cmp.Or(r.why, why)
	if r.keeper > 0 {
		killBelow(r.keeper)
	}
}

// result returns the exit code for how the command ended.
func (r *run) result(status unix.WaitStatus) (int, error) {
	r.stopping.Lock()
	defer r.stopping.Unlock()
	switch {
	case r.why != nil:
		return 128 + int(unix.SIGKILL), r.why
	case status.Signaled():
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// end ends what the command left, then the keeper.
func (r *run) end() {
	if !r.alone {
		endBelow(r.keeper)
		_ = unix.Kill(r.keeper, unix.SIGKILL)
	}
	r.stopping.Lock() // its pid may be another process's from now on
	_, _ = unix.Wait4(r.keeper, nil, 0, nil)
	r.keeper = 0
	r.stopping.Unlock()
	if r.supervisor != nil {
		r.supervisor.end()
	}
	unix.Close(r.report)
	if r.listener > 0 {
		unix.Close(r.listener)
	}
	runtime.KeepAlive(r.childState)
}
