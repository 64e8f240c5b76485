package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// fickle is an output that takes lines or refuses them, as each write is told.
type fickle struct {
	answers chan error
	text    strings.Builder
}

func (f *fickle) Write(b []byte) (int, error) {
	if err := <-f.answers; err != nil {
		return 0, err
	}
	return f.text.Write(b)
}

// What an output does not take in time, or refuses, costs lines and never a wait; the log says how many.
func TestNothingWaitsForTheLog(t *testing.T) {
	long := strings.Repeat("x", 1<<10)
	for name, c := range map[string]struct {
		lines   int
		refused int // writes of them
	}{
		"all are taken":            {10, 0},
		"more than can wait":       {3 << 10, 0},
		"the disk is full once":    {10, 4},
		"refused, and then behind": {3 << 10, 7},
	} {
		t.Run(name, func(t *testing.T) {
			out := &fickle{answers: make(chan error)}
			log, err := OpenLog(config.Settings{LogLevel: "info", LogFormat: "json"}, nil, out)
			ruletest.Must(t, err)
			for i := range c.lines {
				log.Info(long, "n", i) // returns, though nothing was taken so far
			}
			for range c.refused {
				out.answers <- errors.New("no space left on device")
			}
			close(out.answers)
			ruletest.Must(t, log.Close())
			// What Close ends does not come back to say so; the next lines of a log that goes on do.
			lines := strings.Count(out.text.String(), long)
			most := min(c.lines, maxQueued>>10) - c.refused
			if lines > most || lines < most*8/10 {
				t.Errorf("%d lines are written, want about %d", lines, most)
			}
		})
	}
}

// Once lines are taken again, the log says how many were lost.
func TestLost(t *testing.T) {
	out := &fickle{answers: make(chan error)}
	log, err := OpenLog(config.Settings{LogLevel: "info", LogFormat: "text"}, nil, out)
	ruletest.Must(t, err)
	for i := range 5 {
		log.Info("line", "n", i)
	}
	for range 3 {
		out.answers <- io.ErrClosedPipe
	}
	for range 3 { // the last is the one that says so
		out.answers <- nil
	}
	close(out.answers)
	ruletest.Must(t, log.Close())
	if got := out.text.String(); strings.Count(got, "msg=line") != 2 ||
		strings.Count(got, "event=log_lost lines=3\n") != 1 {
		t.Error(got)
	}
}

// A log ends also where nothing reads it.
func TestCloseUnread(t *testing.T) {
	from, to, err := os.Pipe()
	ruletest.Must(t, err)
	defer from.Close()
	log, err := OpenLog(config.Settings{LogLevel: "info", LogFormat: "text"}, nil, to)
	ruletest.Must(t, err)
	for range 2 << 10 {
		fmt.Fprintln(log.Err, strings.Repeat("x", 1<<10))
	}
	if err := log.Close(); err == nil {
		t.Error("it says that all was written")
	}
	to.Close() // the write that hangs ends
}
