package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

const (
	maxDrain = 10 * time.Minute
	// quietSocket is how long a connection must be silent before it is closed, where another server listens
	// at the same address. A caller who uses it before is answered and told to leave it.
	quietSocket = time.Second
	// quietTaken is quietSocket where another process has taken over. Node's fetch leaves a connection
	// after 4 seconds of silence, httpx of Python after 5.
	quietTaken = 10 * time.Second
)

// drainOf parses the setting drain.
func drainOf(s config.Settings) (time.Duration, error) {
	if s.Drain == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s.Drain)
	if err != nil || d < 0 || d > maxDrain {
		return 0, fmt.Errorf("drain is a time such as 5s, at most %s, not %q", maxDrain, s.Drain)
	}
	return d, nil
}

// errTaken ends a server whose sockets another process has.
var errTaken = errors.New("another process has taken over")

// serve serves until this process is asked to stop or another one has taken over.
func (r *running) serve(asked context.Context, server *sidecar.Server) error {
	serving, leave := context.WithCancelCause(asked)
	defer leave(nil)
	if r.Given.FromPrevious() {
		r.Background(r.awaitPrevious)
	}
	signals, ignore := Signals()
	defer ignore()
	if r.Next != nil {
		r.Background(func(ctx context.Context) { r.handOverAtSignals(ctx, signals, leave) })
	}
	rest, err := r.Given.CloseUnused()
	for _, name := range rest {
		r.Log.Warn("a socket was given that no setting wants; it is closed", "event", "socket_unused",
			"socket", name)
	}
	if err = errors.Join(err, r.Given.Ready()); err != nil {
		return errors.Join(err, r.callers.Close())
	}
	var done []func()
	err = sidecar.Run(serving, r.callers, server.Handler(), func() sidecar.Shutdown {
		how, free := r.shutdown(asked, errors.Is(context.Cause(serving), errTaken))
		done = append(done, free)
		return how
	}, r.Log)
	for _, free := range done {
		free()
	}
	r.stop()
	return err
}

// shutdown returns how this server stops. If another process has its sockets, requests may last as long as
// a caller may wait, unless this process is asked to stop, too.
func (r *running) shutdown(asked context.Context, taken bool) (how sidecar.Shutdown, free func()) {
	limits := r.Rules.Set().Limits
	if !taken {
		how.Drain = r.drain
		if r.drain > 0 || r.sharesSocket {
			how.Quiet = func() time.Duration { return quietSocket }
		}
		until, free := context.WithTimeout(context.Background(), r.drain+limits.Grace)
		how.Until = until
		return how, free
	}
	until, done := context.WithTimeout(context.Background(), max(limits.CallerWait, limits.Grace))
	how.Until = until
	how.Quiet = func() time.Duration {
		if asked.Err() != nil {
			return quietSocket
		}
		return quietTaken
	}
	stop := context.AfterFunc(asked, func() {
		t := time.NewTimer(limits.Grace)
		defer t.Stop()
		select {
		case <-until.Done():
		case <-t.C:
		}
		done()
	})
	return how, func() { stop(); done() }
}

// awaitPrevious waits for the end of the previous process, whose files then belong to this one alone.
func (r *running) awaitPrevious(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.Given.Gone():
	}
	if err := r.Decisions.Alone(); err != nil {
		r.Log.Error("the decision log of the process before cannot be followed", "event", "takeover_failed",
			"detail", err.Error())
	}
	r.Log.Info("the process before has ended", "event", "takeover_done")
}

// handOverAtSignals starts another process at each signal, until one has taken over.
func (r *running) handOverAtSignals(ctx context.Context, signals <-chan os.Signal,
	leave context.CancelCauseFunc) {
	for taken := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		if taken {
			r.Log.Error("no other process takes over", "event", "handover_refused",
				"detail", "one has already; send the signal to that")
			continue
		}
		pid, err := r.handOver(ctx)
		if err != nil {
			r.Log.Error("no other process takes over; this one goes on", "event", "handover_refused",
				"detail", err.Error())
			continue
		}
		taken = true
		r.Log.Info("another process has taken over; open requests end here", "event", "handover_done",
			"pid", pid)
		leave(errTaken)
	}
}

// handOver starts the next process with all open files, and returns when it serves.
func (r *running) handOver(ctx context.Context) (pid int, err error) {
	if err := r.mayHandOver(); err != nil {
		return 0, err
	}
	var files []PassedFile
	defer func() {
		for _, f := range files {
			if f.Name != Decisions { // that stays
				err = errors.Join(err, f.Close())
			}
		}
	}()
	for name, l := range map[string]net.Listener{HTTP: r.callers, Admin: r.adminListener} {
		if l == nil {
			continue
		}
		f, err := Socket(name, l)
		if err != nil {
			return 0, err
		}
		files = append(files, f)
	}
	lock, err := r.Decisions.Share()
	if err != nil {
		return 0, err
	}
	if lock != nil {
		files = append(files, PassedFile{Name: Decisions, File: lock})
	}
	if pid, err = r.Next.Start(ctx, files); err != nil {
		return 0, errors.Join(err, r.Decisions.Alone())
	}
	r.stopAdmin()
	for _, leave := range r.Leave {
		leave()
	}
	return pid, nil
}

// mayHandOver returns why another process cannot take over.
func (r *running) mayHandOver() error {
	select {
	case <-r.Given.Gone():
	default:
		return errors.New("the process before still has open requests; try again when its log says stopped, or send it SIGTERM")
	}
	switch {
	case slices.Contains(r.Environ, "SYSTEMD_EXEC_PID="+strconv.Itoa(os.Getpid())):
		return errors.New("systemd follows this process and would end the next one with it; use the .socket unit, and systemctl restart")
	case os.Getpid() == 1:
		return errors.New("this is the first process of a container, which ends with it; start another container")
	case r.Settings.WithParent == "on":
		return errors.New("with_parent is on: the process that started this one waits for it, and starts the next one")
	}
	return nil
}
