package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names of files that one process passes to another.
const (
	HTTP      = "http"      // the listener for callers
	Admin     = "admin"     // that of the admin API
	Decisions = "decisions" // the lock of the decision log
)

// Variables that announce passed files, those of systemd as in sd_listen_fds(3).
const (
	listenPID    = "LISTEN_PID"
	listenFDs    = "LISTEN_FDS"
	listenNames  = "LISTEN_FDNAMES"
	fromPrevious = "GPTOSS_HANDOVER" // names, in the order of the files
)

// Pipes between the two processes.
const (
	readyPipe = "ready" // the next process writes that it serves, or why it does not
	gonePipe  = "gone"  // closed when the previous process has ended
	readyWord = "ready"
)

// firstFile is the descriptor of the first passed file.
const firstFile = 3

// Given holds the files that this process was started with. nil: none.
type Given struct {
	files        map[string]*os.File
	ready        *os.File // nil: no previous process waits
	gone         chan struct{}
	fromPrevious bool
}

// Receive takes the files passed to this process and removes the variables that announce them, from the
// environment and from environ, so that no program started here takes them for its own.
func Receive(environ []string) (*Given, []string, error) {
	vars := map[string]string{}
	rest := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if name != listenPID && name != listenFDs && name != listenNames && name != fromPrevious {
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
	names, err := passedNames(vars)
	if err != nil {
		return nil, rest, err
	}
	g := &Given{files: map[string]*os.File{}, fromPrevious: vars[fromPrevious] != "",
		gone: make(chan struct{})}
	for i, name := range names {
		keepToItself(firstFile + i)
		f := os.NewFile(uintptr(firstFile+i), name)
		if f == nil {
			return nil, rest, fmt.Errorf("take over: there is no file %d, which shall be %s", firstFile+i,
				name)
		}
		g.files[name] = f
	}
	if !g.fromPrevious {
		close(g.gone)
		return g, rest, nil
	}
	g.ready = g.files[readyPipe]
	gone := g.files[gonePipe]
	if g.ready == nil || gone == nil {
		return nil, rest, fmt.Errorf("take over: %s=%s names no %s and %s", fromPrevious, vars[fromPrevious],
			readyPipe, gonePipe)
	}
	go func() {
		_, _ = io.Copy(io.Discard, gone) // it ends with the process that holds the other end
		_ = gone.Close()
		close(g.gone)
	}()
	return g, rest, nil
}

// passedNames returns the names of the files in order; none were passed if it is empty.
func passedNames(vars map[string]string) ([]string, error) {
	if list, ok := vars[fromPrevious]; ok {
		return strings.Fields(list), nil
	}
	if vars[listenFDs] == "" || vars[listenPID] != strconv.Itoa(os.Getpid()) { // it was meant for another one
		return nil, nil
	}
	return socketNames(vars[listenFDs], vars[listenNames])
}

// socketNames returns the purposes of systemd's sockets. A single one needs no name.
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

// Listener returns the listener of this name; nil: none was passed.
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

// File returns the file of this name; nil: none was passed.
func (g *Given) File(name string) *os.File {
	if g == nil {
		return nil
	}
	return g.files[name]
}

// CloseUnused closes the sockets that no listener took and returns their names: a caller there would wait
// in vain.
func (g *Given) CloseUnused() (names []string, err error) {
	for _, name := range []string{HTTP, Admin} {
		if f := g.File(name); f != nil {
			names, err = append(names, name), errors.Join(err, f.Close())
			delete(g.files, name)
		}
	}
	return names, err
}

// FromPrevious reports whether the files come from a previous process, which serves until this one is
// ready.
func (g *Given) FromPrevious() bool { return g != nil && g.fromPrevious }

// Gone is closed when that process has ended.
func (g *Given) Gone() <-chan struct{} {
	if g == nil {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return g.gone
}

// Ready tells the previous process that this one serves.
func (g *Given) Ready() error { return g.say(readyWord) }

// Fail tells the previous process why this one does not serve, unless it is ready.
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

// Next starts the process that takes over from this one, with the program that is installed by then. It is
// safe for concurrent use.
type Next struct {
	Program  string // as it was called; a newer version may be installed there
	Args     []string
	Dir      string
	Environ  []string
	In       io.Reader
	Out, Err io.Writer
	Wait     time.Duration // until the next process serves

	mu    sync.Mutex
	alive *os.File // open as long as this process lives
}

// NewNext returns a Next that starts a process as this one was started.
func NewNext(environ []string, in io.Reader, out, err io.Writer) (*Next, error) {
	program, bad := exec.LookPath(os.Args[0])
	if bad == nil {
		program, bad = filepath.Abs(program) // not where a link leads: an upgrade may change the link
	}
	if bad != nil {
		return nil, fmt.Errorf("find this program: %w", bad)
	}
	dir, bad := os.Getwd()
	if bad != nil {
		dir = "" // it was removed, and the next process begins in it, too
	}
	return &Next{Program: program, Args: os.Args[1:], Dir: dir, Environ: environ, In: in, Out: out, Err: err,
		Wait: time.Minute}, nil
}

// PassedFile is a file to pass, and its name.
type PassedFile struct {
	Name string
	*os.File
}

// Start starts the next process with these files and returns when it serves. If it does not, the error says
// why, and it has ended.
func (n *Next) Start(ctx context.Context, files []PassedFile) (pid int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ready, say, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start the next process: %w", err)
	}
	defer ready.Close()
	gone, lasts, err := os.Pipe()
	if err != nil {
		return 0, errors.Join(fmt.Errorf("start the next process: %w", err), say.Close())
	}
	cmd := exec.Command(n.Program, n.Args...) // it outlives ctx
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = n.Dir, n.In, n.Out, n.Err
	var names []string
	for _, f := range append(files, PassedFile{readyPipe, say}, PassedFile{gonePipe, gone}) {
		names = append(names, f.Name)
		cmd.ExtraFiles = append(cmd.ExtraFiles, f.File)
	}
	cmd.Env = append(append([]string{}, n.Environ...), fromPrevious+"="+strings.Join(names, " "))
	err = cmd.Start()
	if err = errors.Join(err, say.Close(), gone.Close()); err != nil {
		return 0, errors.Join(fmt.Errorf("start the next process: %w", err), lasts.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := n.awaitReady(ctx, ready); err != nil {
		_ = cmd.Process.Kill() // it may have ended
		if end := <-ended; errors.Is(err, errSilent) {
			err = fmt.Errorf("it has ended before it served: %w", end)
		}
		return 0, errors.Join(fmt.Errorf("the next process does not serve: %w", err), lasts.Close())
	}
	n.alive = lasts
	return cmd.Process.Pid, nil
}

// errSilent means that the process ended without a word.
var errSilent = errors.New("it has said nothing")

// maxWhy bounds the explanation of why it does not serve, in bytes.
const maxWhy = 4 << 10

// awaitReady waits until the next process says that it serves.
func (n *Next) awaitReady(ctx context.Context, ready *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Now()) })
	defer stop()
	if err := ready.SetReadDeadline(time.Now().Add(n.Wait)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(ready, maxWhy))
	switch why := strings.TrimSpace(string(text)); {
	case why == readyWord:
		return nil
	case ctx.Err() != nil:
		return errors.New("this process was told to stop meanwhile")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it did not within %s", n.Wait)
	case why == "":
		return errSilent
	default:
		return errors.New(why)
	}
}
