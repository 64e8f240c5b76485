package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// server serves one variant without a port.
type server struct {
	Variant
	base    string // of the model server
	handler http.Handler
	whole   bool // request whole answers instead of streams
	close   func()
}

// only is a constant rule set.
type only struct{ set *ruleset.Set }

func (o only) Set() *ruleset.Set { return o.set }
func (only) Trouble() string     { return "" }

func (l *Live) serve(v Variant, world guard.World, m *meter) (*server, error) {
	quiet, metrics := slog.New(slog.DiscardHandler), telemetry.New()
	up, err := upstream.New(upstream.Config{BaseURL: l.URL, Key: l.Key, Log: quiet, Before: m.pass})
	if err != nil {
		return nil, fmt.Errorf("--live %s: %w", l.URL, err)
	}
	served := v.served()
	turns := turn.NewPlanner(turn.PlannerConfig{Keep: served.Limits.KeepLimits, Upstream: up,
		Guard:   guard.New(guard.Config{World: world, Now: time.Now, Metrics: metrics, Log: quiet}),
		Metrics: metrics, Log: quiet})
	s := sidecar.New(sidecar.Config{Turns: turns, Rules: only{served}, Watch: []turn.Watch{watch},
		Metrics: metrics, Log: quiet})
	return &server{v, strings.TrimRight(l.URL, "/"), s.Handler(), l.Whole,
		func() { turns.Fleet.Close(); up.Close() }}, nil
}

// served returns the rules of the variant, with its profile for every model.
func (v *Variant) served() *ruleset.Set {
	set := frank(v.Set)
	if v.Profile != "" {
		set.Models = slices.Clone(set.Models)
		for i := range set.Models {
			set.Models[i].Profile.Value = v.Profile
		}
	}
	return set
}

// frank returns rules without limits per caller, and without sentences for users in place of errors: a
// failing server must not count as an answer of the model.
func frank(set *ruleset.Set) *ruleset.Set {
	mine := *set
	mine.Limits.Caller = web.Pace{AtOnce: 1 << 20, PerMinute: 1 << 30} // all questions come from one caller
	mine.Recovery.Faults = maps.Clone(set.Recovery.Faults)
	for _, f := range []ruleset.Fault{
		ruleset.StreamError, ruleset.Overflow, ruleset.Auth, ruleset.Missing, ruleset.RateLimited,
		ruleset.Rejected, ruleset.ServerError, ruleset.Unreachable, ruleset.Away, ruleset.Timeout,
	} {
		r := mine.Recovery.For(f)
		r.Says.Value = ""
		mine.Recovery.Faults[f] = r
	}
	return &mine
}

// body returns the request of a question.
func (s *server) body(q question) ([]byte, error) {
	offered, err := q.Record.Offered()
	if err != nil {
		return nil, err
	}
	request := map[string]any{"model": s.Set.Models[0].ID.Value, "messages": q.messages}
	if len(q.messages) == 0 {
		request["messages"] = []any{map[string]string{"role": "user", "content": q.Record.User}}
	}
	if !s.whole {
		request["stream"], request["stream_options"] = true, map[string]bool{"include_usage": true}
	}
	if q.temperature != nil {
		request["temperature"] = *q.temperature
	}
	var list []any
	for _, t := range offered {
		f := map[string]any{"name": t.Name, "parameters": map[string]any{"type": "object"}}
		if len(t.Parameters) > 0 {
			f["parameters"] = t.Parameters
		}
		list = append(list, map[string]any{"type": "function", "function": f})
	}
	if len(list) > 0 {
		request["tools"] = list
	}
	return json.Marshal(request)
}

// key identifies a question by model server, case, temperature, repetition, rules and profile.
func (s *server) key(q question) string {
	body, _ := s.body(q)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d\x00%s", s.base, s.Set.Version, s.Profile,
		q.time, body))
	return hex.EncodeToString(sum[:16])
}

// ask sends a question through the serving code, and reads the answer as a caller would.
func (s *server) ask(ctx context.Context, q question, wait time.Duration) (out answered, err error) {
	body, err := s.body(q)
	if err != nil {
		return out, err
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	ctx, way := embark(ctx)
	defer way.stop(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://localhost/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/json")
	to := &recorder{header: http.Header{}, status: http.StatusOK}
	began := time.Now()
	s.serve(to, req)
	account := &way.account
	out.Spent, out.sent = Spent{milliseconds(time.Since(began)), milliseconds(account.First), account.Prompt,
		account.Completion}, int(way.sent.Load())
	switch {
	case errors.Is(context.Cause(ctx), errBound):
		return out, errBound
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out, fmt.Errorf("no answer within %v", wait)
	case to.status != http.StatusOK:
		return out, fmt.Errorf("status %d: %s", to.status, to.body.String()[:min(to.body.Len(), 300)])
	}
	out.Made, err = readAnswer(to.body.Bytes(), !s.whole)
	return out, err
}

// serve calls the handler like a listener does, and recovers if it aborts a reply.
func (s *server) serve(to *recorder, req *http.Request) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	s.handler.ServeHTTP(to, req)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// recorder records an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Flush()                      {}
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
