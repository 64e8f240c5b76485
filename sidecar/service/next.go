package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Next is how the process is started that takes the place of this one: as this one was, from where the
// program lies now. It is safe for concurrent use.
type Next struct {
	Program  string // as it was called: what lies there by then is another version
	Args     []string
	Dir      string
	Environ  []string
	In       io.Reader
	Out, Err io.Writer
	Wait     time.Duration // until the next one serves

	mu    sync.Mutex
	lasts *os.File // open as long as this process lasts
}

// Same starts a process as this one was started.
func Same(environ []string, in io.Reader, out, err io.Writer) (*Next, error) {
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

// File is one that is given, with the name of what it is.
type PassedFile struct {
	Name string
	*os.File
}

// Start starts the next process with these files, and returns when it serves. The error says why it
// does not; then it has ended.
func (n *Next) Start(ctx context.Context, files []PassedFile) (pid int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	said, say, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start the next process: %w", err)
	}
	defer said.Close()
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
	cmd.Env = append(append([]string{}, n.Environ...), fromBefore+"="+strings.Join(names, " "))
	err = cmd.Start()
	if err = errors.Join(err, say.Close(), gone.Close()); err != nil {
		return 0, errors.Join(fmt.Errorf("start the next process: %w", err), lasts.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := n.hear(ctx, said); err != nil {
		_ = cmd.Process.Kill() // it may have ended
		if end := <-ended; errors.Is(err, errSilent) {
			err = fmt.Errorf("it has ended before it served: %w", end)
		}
		return 0, errors.Join(fmt.Errorf("the next process does not serve: %w", err), lasts.Close())
	}
	n.lasts = lasts
	return cmd.Process.Pid, nil
}

// errSilent is for one that says nothing before it ends.
var errSilent = errors.New("it has said nothing")

// maxWhy is how much is read of why it does not serve.
const maxWhy = 4 << 10

// hear waits until the next process says that it serves.
func (n *Next) hear(ctx context.Context, said *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = said.SetReadDeadline(time.Now()) })
	defer stop()
	if err := said.SetReadDeadline(time.Now().Add(n.Wait)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(said, maxWhy))
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
