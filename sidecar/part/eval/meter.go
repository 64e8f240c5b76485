package eval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// errBound is that of a question which needed one more request than there may be. It says nothing of
// the model.
var errBound = errors.New("the bound of requests was reached")

// meter counts the requests that really go to the model server, also those that are sent again and
// those in which the rules ask a second time. No more go there than may.
type meter struct {
	most int // 0: as many as it takes
	sent atomic.Int64
}

// passage is a question on its way.
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

// watch is the watcher of the question that a request is for.
func watch(ctx context.Context, _ *turn.Request) turn.Watcher { return passageOf(ctx) }

func (*passage) Asked(*openai.Request, string) {}
func (*passage) Listens() bool                 { return false }
func (*passage) Replied(*turn.Reply)           {}
func (p *passage) Ended(o *turn.Outcome)       { p.account = o.Account }

func passageOf(ctx context.Context) *passage { return ctx.Value(passageKey{}).(*passage) }

// pass lets a request of a question through.
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
