package turn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// errClosed means that the current server may not be asked now.
var errClosed = errors.New("this model server is left alone for a while")

// locate selects the current server of the route: its dialect and its name for the model. A server without
// the model is skipped if there is another. The error is an *openai.Error.
func (t *Turn) locate(ctx context.Context) error {
	var first error
	for {
		up := t.route.Client()
		srv := up.Server(ctx, t.set)
		if t.ruleModel.Server.Value != "" {
			srv = t.set.Server(t.ruleModel.Server.Value)
		}
		model, err := up.Model(ctx, t.set, *t.ruleModel, t.ruleModel.ID.Value)
		if err == nil {
			t.up, t.Model, t.window = up, model, up.Window(srv, model.Name)
			t.facts.Server = srv.ID.Value
			if t.family, _ = up.Family(ctx, t.set, srv, model); t.family != nil {
				t.Model.Sampling = t.family.Advised(t.Model.Sampling)
			}
			t.srv = srv.For(t.family)
			return nil
		}
		first = cmp.Or(first, err)
		if !t.route.Next() {
			return first
		}
	}
}

// round asks the servers of the model in order until a reply begins or none is left.
func (t *Turn) round(ctx context.Context) (*parse.Reading, error) {
	t.route.Again()
	var tried error // what tells the caller most
	for {
		reading, err := t.ask(ctx)
		if ctx.Err() != nil || !t.route.Several() || t.spoke || err == nil || !otherMayHelp(err) {
			return reading, err
		}
		tried = moreUseful(tried, err)
		from := t.route.Name()
		if !t.route.Next() {
			return &parse.Reading{}, t.unavailable(tried)
		}
		if err := t.move(ctx, from, tried); err != nil {
			t.log.WarnContext(ctx, "no other model server can be asked", "event",
				"upstream_unfit", "model", t.Model.ID.Value, "detail", err.Error(), "rules", t.set.Version)
			return &parse.Reading{}, t.unavailable(tried)
		}
	}
}

// move rewrites the request for the current server.
func (t *Turn) move(ctx context.Context, from string, why error) error {
	if err := t.locate(ctx); err != nil {
		return err
	}
	t.log.WarnContext(ctx, "another model server is asked", "event",
		"upstream_changed", "model", t.Model.ID.Value,
		"from", from, "to", t.route.Name(), "detail", why.Error(), "session", t.subject.Session,
		"rules", t.set.Version)
	return t.write(ctx)
}

// unavailable returns the error of a round in which no server was of use.
func (t *Turn) unavailable(tried error) error {
	if !errors.Is(tried, errClosed) {
		return tried
	}
	why, wait, away := t.route.Why()
	return upstream.Unavailable(t.set, why, wait, away)
}

// otherMayHelp reports whether another server may answer after an error of which nothing came.
func otherMayHelp(err error) bool {
	return outcomeOf(err) == upstream.Failed || refusesUs(err) || errors.Is(err, errClosed)
}

// refusesUs reports whether a healthy server has no reply for us, but another may.
func refusesUs(err error) bool {
	var f *upstream.Failure
	return errors.As(err, &f) && (f.Fault == ruleset.RateLimited || f.Fault == ruleset.Missing)
}

// moreUseful returns the error that tells the caller more, and of two waits the shorter one; if they are
// equal, the first.
func moreUseful(a, b error) error {
	if a == nil || usefulness(b) > usefulness(a) || usefulness(b) == usefulness(a) &&
		retryAfter(b) < retryAfter(a) {
		return b
	}
	return a
}

// usefulness ranks an error for the caller: that waiting helps at one server counts more than that it does
// not at another; then a server's own words count more than that there is none.
func usefulness(err error) int {
	var f *upstream.Failure
	switch {
	case errors.Is(err, errClosed):
		return 2
	case !errors.As(err, &f):
		return 4
	}
	switch f.Fault {
	case ruleset.Away:
		return 0
	case ruleset.Auth, ruleset.Missing:
		return 1
	case ruleset.Unreachable:
		return 3
	}
	return 4
}

// retryAfter returns how long the caller is asked to wait.
func retryAfter(err error) time.Duration {
	var f *upstream.Failure
	if errors.As(err, &f) {
		return f.Say.RetryAfter
	}
	return 0
}

// outcomeOf returns what an error, of which nothing came, says about a server. Nonsense of the model or a
// request that is too large says nothing against it.
func outcomeOf(err error) upstream.Outcome {
	var f *upstream.Failure
	if !errors.As(err, &f) {
		return upstream.Failed
	}
	switch f.Fault {
	case ruleset.Unreachable, ruleset.Away, ruleset.Timeout, ruleset.ServerError, ruleset.StreamError,
		ruleset.Auth:
		return upstream.Failed
	}
	return upstream.Answered
}

// servedBy returns the name of the server for the caller; "": there is only one.
func (t *Turn) servedBy() string {
	if t.route.Several() {
		return t.route.Name()
	}
	return ""
}

// reportOutcome tells the fleet what became of a request.
func (t *Turn) reportOutcome(ctx context.Context, err error) {
	switch {
	case t.spoke || err == nil:
		t.route.Ended(upstream.Served, "")
	case ctx.Err() != nil:
		t.route.Ended(upstream.Canceled, "")
	default:
		t.route.Ended(outcomeOf(err), err.Error())
	}
}

// Window returns the context of a model in tokens, at the server that is asked first; 0: unknown. The error
// is an *openai.Error.
func (p *Planner) Window(ctx context.Context, set *ruleset.Set, m ruleset.Model) (int, error) {
	route, err := p.Fleet.Route(set, m, "")
	if err != nil {
		return 0, openai.Internal("model " + m.ID.Value + ": " + err.Error())
	}
	t := Turn{planner: p, set: set, route: route, ruleModel: &m}
	if err := t.locate(ctx); err != nil {
		return 0, err
	}
	return t.window, nil
}
