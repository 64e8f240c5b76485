package replicas

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

// ErrAway is that the server cannot be asked.
var ErrAway = errors.New("the server that replicas share cannot be asked")

// What is asked, in metrics.
const (
	askTexts     = "texts"
	askApprovals = "approvals"
	askLeft      = "left"
	askRates     = "rates"
	askCounts    = "counts"
	askReplicas  = "replicas"
	askWrites    = "writes"
)

// What came of it, in metrics.
const (
	answered = "ok"
	failed   = "failed"
	skipped  = "skipped" // it was known to be away
)

// ask asks the server within a time, if it is there. That something does not exist is no error.
func (s *Store) ask(ctx context.Context, what string, most time.Duration,
	f func(context.Context) error) error {
	pass, ok := s.enter(false)
	if !ok {
		s.Metrics.Shared.WithLabelValues(what, skipped).Inc()
		return ErrAway
	}
	return s.through(ctx, pass, what, most, f)
}

func (s *Store) through(ctx context.Context, pass state.CircuitPass, what string, most time.Duration,
	f func(context.Context) error) error {
	bounded, done := context.WithTimeout(ctx, most)
	defer done()
	err := f(bounded)
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if err != nil && ctx.Err() != nil { // the caller has left
		s.mu.Lock()
		defer s.mu.Unlock()
		s.health.Cancel(pass)
		return err
	}
	s.tell(pass, err)
	outcome := answered
	if err != nil {
		outcome = failed
	}
	s.Metrics.Shared.WithLabelValues(what, outcome).Inc()
	return err
}

// enter lets requests in while the server is known to be there; a trial, when it may be back.
func (s *Store) enter(trial bool) (state.CircuitPass, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); trial || s.health.State(now, s.open) == state.CircuitClosed {
		return s.health.Enter(now, s.open)
	}
	return state.CircuitPass{}, false
}

// tell notes what came of a question, and says once that the server is away, or back.
func (s *Store) tell(pass state.CircuitPass, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	refused := err != nil && refuses(err)
	if err == nil || refused {
		s.health.Succeeded(pass)
	} else {
		s.health.Failed(pass, now, s.open)
	}
	away := s.health.State(now, s.open) != state.CircuitClosed
	switch {
	case away && !s.away:
		s.Log.Warn("the server that replicas share is away: each goes by what it knows itself, and what a person allows passes nowhere until it is back",
			"event", "shared_lost", "detail", plain(err))
		s.since = now
		s.Metrics.SharedUp.WithLabelValues().Set(0)
	case !away && s.away:
		s.Log.Info("the server that replicas share is back", "event", "shared_back",
			"after", now.Sub(s.since).Round(time.Millisecond).String())
		s.Metrics.SharedUp.WithLabelValues().Set(1)
	case refused && !s.refuses:
		s.Log.Warn("the server that replicas share does not do what it is told", "event", "shared_refuses",
			"detail", plain(err))
	}
	s.away, s.refuses = away, refused || s.refuses && err != nil
}

// refuses reports whether the server is there, and just does not take what it is given.
func refuses(err error) bool {
	var said redis.Error
	if !errors.As(err, &said) {
		return false
	}
	if strings.HasPrefix(said.Error(), "ERR AUTH") {
		return false
	}
	for _, code := range []string{"OOM ", "READONLY ", "MISCONF ", "NOPERM ", "ERR ", "WRONGTYPE "} {
		if strings.HasPrefix(said.Error(), code) {
			return true
		}
	}
	return false
}

// plain is an error as a line of the log may hold it: what a server says may be anything.
func plain(err error) string {
	return scan.Head(strings.ToValidUTF8(err.Error(), "?"), 200)
}

// look finds out now and then whether a server that was away is back.
func (s *Store) look(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.Up() {
			continue
		}
		if pass, ok := s.enter(true); ok {
			// told there
			_ = s.through(ctx, pass, askReplicas, s.Patience,
				func(ctx context.Context) error { return s.client.Ping(ctx).Err() })
		}
	}
}

// Up reports whether the server is there, as far as is known.
func (s *Store) Up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.away
}
