package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// What ends a request from our side.
var (
	errFirstByte = errors.New("no answer began in time")
	errGone      = errors.New("no answer began, and it did not say twice which models it has")
	errIdle      = errors.New("the answer stopped in the middle: silence for too long")
	errBrokeOff  = errors.New("the connection broke in the middle of the answer")
	errTooLarge  = errors.New("the answer is larger than size.reply of limits.yaml allows")
)

// watch ends a request when the upstream is silent for too long.
type watch struct {
	timer *time.Timer
	begun atomic.Bool // an answer has begun
}

// watchSilence waits for the first byte of an answer's body: prefilling a long
// prompt may fall before the head or after it. 0 waits for ever.
func watchSilence(cancel context.CancelCauseFunc, first time.Duration) *watch {
	w := &watch{}
	if first <= 0 {
		first = 1<<63 - 1
	}
	w.timer = time.AfterFunc(first, func() {
		if w.begun.Load() {
			cancel(errIdle)
		} else {
			cancel(errFirstByte)
		}
	})
	return w
}

// alive starts the time again; 0 waits for ever.
func (w *watch) alive(idle time.Duration) {
	w.begun.Store(true)
	if idle <= 0 {
		w.timer.Stop()
		return
	}
	w.timer.Reset(idle)
}

func (w *watch) stop() { w.timer.Stop() }

// replyBody is the body of an answer: bounded in size and in silence.
type replyBody struct {
	cancel    context.CancelCauseFunc
	body      io.ReadCloser
	watch     *watch
	idle      time.Duration
	remaining int // bytes
	fail      func(error) *Failure
	head      []byte // was read by begin, and not given yet
}

// fields begin the lines of server-sent events; error is llama.cpp's.
var fields = []string{"data:", "event:", "id:", "retry:", "error:", ":"}

// begin waits for the first bytes, and gives one of fields, or the first byte of another text; "": there is
// none. Blanks and a byte order mark before it are dropped.
func (b *replyBody) begin() string {
	one := make([]byte, 1)
	for {
		n, err := b.read(one)
		switch {
		case n == 0 && err != nil: // the next read has it, too
			return string(b.head[:min(len(b.head), 1)])
		case n == 0, len(b.head) == 0 && strings.Contains(" \t\r\n\uFEFF", string(one)):
			continue
		}
		b.head = append(b.head, one[0])
		said := string(b.head)
		if slices.Contains(fields, said) {
			return said
		}
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, said) }) {
			return said[:1]
		}
	}
}

func (b *replyBody) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	return b.read(p)
}

func (b *replyBody) read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.watch.alive(b.idle)
	}
	if b.remaining -= n; b.remaining < 0 {
		return 0, b.fail(errTooLarge)
	}
	if err != nil && err != io.EOF {
		err = b.fail(fmt.Errorf("%w: %w", errBrokeOff, err))
	}
	return n, err
}

// Close ends the request; what the upstream still generates is cancelled.
func (b *replyBody) Close() error {
	b.watch.stop()
	b.cancel(nil)
	return b.body.Close()
}
