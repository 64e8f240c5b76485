package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// stage is what runs during the demo: the model server, the sidecar in front of
// it as `serve` starts it, and a caller.
type stage struct {
	model          *script.Server
	direct, served string // base URLs without and with the sidecar
	caller         caller
	refused        <-chan string // what the sidecar's log says of edits that it refused

	up      *upstream.Client
	stop    context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	failed  []error
}

// open starts everything. On an error nothing is left running.
func open(cfg Config, model *script.Server) (*stage, error) {
	log := make(journal, 8)
	logger, metrics := slog.New(log), telemetry.New()
	builtin, err := rulefile.Builtin(cfg.Defaults)
	if err != nil {
		return nil, err
	}
	rules, err := live.Open(ruleset.SourceOf(cfg.Dir, "", builtin), "", logger, metrics)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	st := &stage{model: model, refused: log, stop: stop, caller: newCaller()}
	if st.direct, err = st.serve(ctx, model, logger); err != nil {
		return nil, errors.Join(err, st.close())
	}
	limits := rules.Set().Limits
	st.up, err = upstream.New(upstream.Config{
		BaseURL: st.direct, Connect: limits.Connect, IdleConnections: limits.IdleConnections, Log: logger,
	})
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	st.running.Go(func() { rules.Watch(ctx) })
	server := sidecar.New(sidecar.Config{
		Rules: rules, Upstream: st.up, Metrics: metrics, Log: logger,
		Guard: guard.New(guard.Config{Approvals: guard.NewApprovals(limits, time.Now, metrics), Now: time.Now, Metrics: metrics, Log: logger}),
	})
	st.served, err = st.serve(ctx, server.Handler(), logger)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

// serve answers at a free port of this machine until ctx ends.
func (st *stage) serve(ctx context.Context, h http.Handler, log *slog.Logger) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	st.running.Go(func() {
		if err := sidecar.Run(ctx, l, h, time.Second, log); err != nil {
			st.mu.Lock()
			st.failed = append(st.failed, err)
			st.mu.Unlock()
		}
	})
	return "http://" + l.Addr().String() + "/v1", nil
}

// close ends everything and waits for it. Connections go first: a server waits
// for those that were opened and never used.
func (st *stage) close() error {
	st.caller.http.CloseIdleConnections()
	if st.up != nil {
		st.up.Close()
	}
	st.stop()
	st.running.Wait()
	return errors.Join(st.failed...)
}

// journal is the log of the sidecar, as far as the demo reads it: the problems
// of edited rules that were refused.
type journal chan string

// Enabled takes errors only.
func (journal) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle keeps the problems. One that finds no room is one nobody waits for.
func (j journal) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "problems" {
			return true
		}
		select {
		case j <- a.Value.String():
		default:
		}
		return false
	})
	return nil
}

// WithAttrs adds nothing: no attribute but the problems is read.
func (j journal) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup groups nothing.
func (j journal) WithGroup(string) slog.Handler { return j }
