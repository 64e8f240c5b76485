package walls

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pipes are the standard streams of a command, and what copies them.
type pipes struct {
	fds       [3]int
	opens     []*os.File // for the child alone
	outputs   []output
	copy      sync.WaitGroup
	ends      sync.Once
	remaining atomic.Int64
	bound     bool
}

// output is output that is copied.
type output struct {
	from *os.File
	to   io.Writer
}

var errFull = errors.New("ended: it wrote more than its limit for output")

// open makes pipes for streams that are not files and for output that is counted. A terminal is
// inherited in any case: programs behave differently without one.
func (s Streams) open(most int64) (*pipes, error) {
	p := &pipes{bound: most > 0}
	p.remaining.Store(most)
	in := s.In
	if in == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		p.opens, in = append(p.opens, null), null
	}
	p.fds[0] = int(in.Fd())
	for i, w := range []io.Writer{s.Out, s.Err} {
		if f, ok := w.(*os.File); ok && (most == 0 || isTerminal(f)) {
			p.fds[i+1] = int(f.Fd())
			continue
		}
		if i == 1 && isSame(s.Out, s.Err) {
			p.fds[2] = p.fds[1] // one pipe keeps the order of what is written
			continue
		}
		if w == nil {
			w = io.Discard
		}
		read, write, err := os.Pipe()
		if err != nil {
			p.finish()
			return nil, err
		}
		p.fds[i+1] = int(write.Fd())
		p.opens, p.outputs = append(p.opens, write), append(p.outputs, output{read, w})
	}
	for i, fd := range p.fds {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			p.finish()
			return nil, fmt.Errorf("standard stream %d is a folder, and would lead past what is hidden", i)
		}
	}
	return p, nil
}

// startCopy begins to copy output and calls full when it exceeds the limit.
func (p *pipes) startCopy(full func()) {
	for _, f := range p.outputs {
		p.copy.Go(func() { p.copyOutput(f, full) })
	}
}

// copyOutput copies one output until it ends or exceeds the limit.
func (p *pipes) copyOutput(f output, full func()) {
	buf := make([]byte, 32<<10)
	for {
		n, err := f.from.Read(buf)
		if n > 0 {
			if remaining := p.remaining.Add(-int64(n)); p.bound && remaining < 0 {
				n = max(0, n+int(max(remaining, -int64(n))))
				full()
				err = io.EOF
			}
			if _, werr := f.to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			f.from.Close() // who writes on gets SIGPIPE
			return
		}
	}
}

// finish waits until all is copied. The command and all it started have ended by then.
func (p *pipes) finish() {
	p.ends.Do(func() {
		for _, f := range p.opens {
			f.Close()
		}
		p.copy.Wait()
		for _, f := range p.outputs {
			f.from.Close()
		}
	})
}

// isSame reports whether two streams are one. Some types cannot be compared.
func isSame(a, b io.Writer) (yes bool) {
	defer func() { _ = recover() }()
	return a == b
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
