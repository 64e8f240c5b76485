package service

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The names of what is given.
const (
	HTTP      = "http"      // the listener for callers
	Admin     = "admin"     // that of the admin API
	Decisions = "decisions" // the lock of the decision log
)

// The variables that say what is given. Those of systemd are as sd_listen_fds(3) has them.
const (
	listenPID   = "LISTEN_PID"
	listenFDs   = "LISTEN_FDS"
	listenNames = "LISTEN_FDNAMES"
	fromBefore  = "GPTOSS_HANDOVER" // names, in the order of the files
)

// What one process tells the other beside the files.
const (
	readyPipe = "ready" // the next process says here that it serves, or why it does not
	gonePipe  = "gone"  // it is closed when the process before has ended
	readyWord = "ready"
)

// firstFile is where what is given begins.
const firstFile = 3

// Given is what this process found open when it began, if anything. A nil Given is nothing.
type Given struct {
	files  map[string]*os.File
	ready  *os.File // nil: no process before waits for this one
	gone   chan struct{}
	before bool
}

// Receive takes what was given to this process, and takes the variables that say so away: from the process,
// and from these. No program that this one starts shall take it for its own.
func Receive(environ []string) (*Given, []string, error) {
	vars := map[string]string{}
	rest := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if name != listenPID && name != listenFDs && name != listenNames && name != fromBefore {
			return false
		}
		vars[name] = value
		return true
	})
	for name := range vars {
		if err := os.Unsetenv(name); err != nil {
			return nil, rest, fmt.Errorf("take over: %w", err)
		}
	}
	names, err := given(vars)
	if err != nil {
		return nil, rest, err
	}
	g := &Given{files: map[string]*os.File{}, before: vars[fromBefore] != "", gone: make(chan struct{})}
	for i, name := range names {
		keepToItself(firstFile + i)
		f := os.NewFile(uintptr(firstFile+i), name)
		if f == nil {
			return nil, rest, fmt.Errorf("take over: there is no file %d, which shall be %s", firstFile+i,
				name)
		}
		g.files[name] = f
	}
	if !g.before {
		close(g.gone)
		return g, rest, nil
	}
	g.ready = g.files[readyPipe]
	gone := g.files[gonePipe]
	if g.ready == nil || gone == nil {
		return nil, rest, fmt.Errorf("take over: %s=%s names no %s and %s", fromBefore, vars[fromBefore],
			readyPipe, gonePipe)
	}
	go func() {
		_, _ = io.Copy(io.Discard, gone) // it ends with the process that holds the other end
		_ = gone.Close()
		close(g.gone)
	}()
	return g, rest, nil
}

// given are the names of the files, in their order; none: nothing was given to this process.
func given(vars map[string]string) ([]string, error) {
	if list, ok := vars[fromBefore]; ok {
		return strings.Fields(list), nil
	}
	if vars[listenFDs] == "" || vars[listenPID] != strconv.Itoa(os.Getpid()) { // it was meant for another one
		return nil, nil
	}
	return socketNames(vars[listenFDs], vars[listenNames])
}

// socketNames are what sockets of systemd are for. One alone needs no name.
func socketNames(count, list string) ([]string, error) {
	const hint = "in the .socket unit set FileDescriptorName=" + HTTP + ", or " + Admin +
		" in that of the admin API"
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 2 {
		return nil, fmt.Errorf("%s=%s: this program takes one socket or two; %s", listenFDs, count, hint)
	}
	if n == 0 {
		return nil, nil
	}
	names := strings.Split(list, ":")
	if n == 1 && (len(names) != 1 || names[0] != Admin) {
		return []string{HTTP}, nil
	}
	if len(names) != n {
		return nil, fmt.Errorf("%s=%s has %d names for %d sockets; %s", listenNames, list, len(names), n,
			hint)
	}
	for i, name := range names {
		if name != HTTP && name != Admin || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s=%s: %q is not one of %s and %s, once each; %s", listenNames, list,
				name, HTTP, Admin, hint)
		}
	}
	return names, nil
}

// Listener is the one of this name; nil: none was given.
func (g *Given) Listener(name string) (net.Listener, error) {
	f := g.File(name)
	if f == nil {
		return nil, nil
	}
	l, err := net.FileListener(f) // has a file of its own
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("take over the socket %s: %w; is it one that listens, with Accept=no?", name,
			err)
	}
	delete(g.files, name)
	return l, nil
}

// File is the file of this name; nil: none was given.
func (g *Given) File(name string) *os.File {
	if g == nil {
		return nil
	}
	return g.files[name]
}

// Rest closes the sockets that no listener took, and names them: a caller there would wait in vain.
func (g *Given) Rest() (names []string, err error) {
	for _, name := range []string{HTTP, Admin} {
		if f := g.File(name); f != nil {
			names, err = append(names, name), errors.Join(err, f.Close())
			delete(g.files, name)
		}
	}
	return names, err
}

// Before reports whether a process before this one gave what is here, and serves until this one is ready.
func (g *Given) Before() bool { return g != nil && g.before }

// Gone is closed when that process has ended.
func (g *Given) Gone() <-chan struct{} {
	if g == nil {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return g.gone
}

// Ready tells it that this one serves.
func (g *Given) Ready() error { return g.say(readyWord) }

// Fail tells it why this one does not, if it has not said yet that it does.
func (g *Given) Fail(err error) {
	if err != nil {
		_ = g.say(err.Error()) // the end of this process says enough
	}
}

func (g *Given) say(text string) error {
	if g == nil || g.ready == nil {
		return nil
	}
	_, err := g.ready.WriteString(text)
	err = errors.Join(err, g.ready.Close())
	if g.ready = nil; err != nil {
		return fmt.Errorf("tell the process before: %w", err)
	}
	return nil
}
