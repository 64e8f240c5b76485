package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// What ends a request from our side.
var (
	errFirstByte = errors.New("no answer began in time")
	errGone      = errors.New("no answer began, and it did not say twice which models it has")
	errIdle      = errors.New("the answer stopped in the middle: silence for too long")
	errBrokeOff  = errors.New("the connection broke in the middle of the answer")
	errTooLarge  = errors.New("the answer is larger than reply_bytes allows")
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
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	watch  *watch
	idle   time.Duration
	left   int // bytes
	fail   func(error) *Failure
}

func (b *replyBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.watch.alive(b.idle)
	}
	if b.left -= n; b.left < 0 {
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
