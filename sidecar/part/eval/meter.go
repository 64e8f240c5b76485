package eval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// errBound is the error of a question that needed a request beyond the bound. It is no failure of the
// model.
var errBound = errors.New("the bound of requests was reached")

// meter counts and limits the requests to the model server, including retries and the second requests of
// rules.
type meter struct {
	most int // 0: no limit
	sent atomic.Int64
}

// passage is an open question.
type passage struct {
	account turn.Account
	sent    atomic.Int64 // requests
	stop    context.CancelCauseFunc
}

type passageKey struct{}

func embark(ctx context.Context) (context.Context, *passage) {
	ctx, stop := context.WithCancelCause(ctx)
	way := &passage{stop: stop}
	return context.WithValue(ctx, passageKey{}, way), way
}

// watch returns the watcher of the question that caused a request.
func watch(ctx context.Context, _ *turn.Request) turn.Watcher { return passageOf(ctx) }

func (*passage) Asked(*openai.Request, string) {}
func (*passage) Listens() bool                 { return false }
func (*passage) Replied(*turn.Reply)           {}
func (p *passage) Ended(o *turn.Outcome)       { p.account = o.Account }

func passageOf(ctx context.Context) *passage { return ctx.Value(passageKey{}).(*passage) }

// pass counts a request of a question, or refuses it.
func (m *meter) pass(ctx context.Context) error {
	way := passageOf(ctx)
	if n := m.sent.Add(1); m.most > 0 && n > int64(m.most) {
		m.sent.Add(-1)
		way.stop(errBound)
		return errBound
	}
	way.sent.Add(1)
	return nil
}
