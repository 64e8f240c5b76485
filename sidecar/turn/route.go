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

// errClosed says that the server where the way stands cannot be asked now.
var errClosed = errors.New("this model server is left alone for a while")

// locate takes the server where the way stands: its dialect, and what it calls the model. One
// that lacks the model is passed by where there is another. The error is an *openai.Error.
func (t *Turn) locate(ctx context.Context) error {
	var first error
	for {
		up := t.route.Client()
		srv := up.Server(ctx, t.set)
		if t.as.Server.Value != "" {
			srv = t.set.Server(t.as.Server.Value)
		}
		model, err := up.Model(ctx, t.set, *t.as, t.as.ID.Value)
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

// round asks the servers of the model, in order, until a reply has begun or none is left.
func (t *Turn) round(ctx context.Context) (*parse.Reading, error) {
	t.route.Again()
	var tried error // what tells the caller most
	for {
		reading, err := t.ask(ctx)
		if ctx.Err() != nil || !t.route.Several() || t.came || err == nil || !passes(err) {
			return reading, err
		}
		tried = better(tried, err)
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

// move writes the request for the server where the way stands now.
func (t *Turn) move(ctx context.Context, from string, why error) error {
	if err := t.locate(ctx); err != nil {
		return err
	}
	t.log.WarnContext(ctx, "another model server is asked", "event",
		"upstream_changed", "model", t.Model.ID.Value,
		"from", from, "to", t.route.Name(), "detail", why.Error(), "session", t.who.Session,
		"rules", t.set.Version)
	return t.write(ctx)
}

// unavailable is the error of a round in which no server was of use.
func (t *Turn) unavailable(tried error) error {
	if !errors.Is(tried, errClosed) {
		return tried
	}
	why, wait, away := t.route.Why()
	return upstream.Unavailable(t.set, why, wait, away)
}

// passes reports whether another server may be of use after an error, of which nothing came.
func passes(err error) bool {
	return outcome(err) == upstream.Failed || elsewhere(err) || errors.Is(err, errClosed)
}

// elsewhere reports whether a server that is well has no reply for us, and another may.
func elsewhere(err error) bool {
	var f *upstream.Failure
	return errors.As(err, &f) && (f.Fault == ruleset.RateLimited || f.Fault == ruleset.Missing)
}

// better is the error that tells the caller more, the first one if they tell the same: where waiting helps,
// that it does, and of two waits the shorter one.
func better(a, b error) error {
	if a == nil || tells(b) > tells(a) || tells(b) == tells(a) && wait(b) < wait(a) {
		return b
	}
	return a
}

// tells is how much an error tells a caller. That waiting helps at one server counts more than that it does
// not at another; then what a server said more than that there is none.
func tells(err error) int {
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

// wait is how long a caller is asked to wait.
func wait(err error) time.Duration {
	var f *upstream.Failure
	if errors.As(err, &f) {
		return f.Say.RetryAfter
	}
	return 0
}

// outcome is what an error, of which nothing came, says of a server. That a model wrote
// nonsense, or that the caller asked for too much, says nothing against it.
func outcome(err error) upstream.Outcome {
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

// servedBy is the name of the server, for the caller; "" where there is only one.
func (t *Turn) servedBy() string {
	if t.route.Several() {
		return t.route.Name()
	}
	return ""
}

// ended tells the fleet what became of a request.
func (t *Turn) ended(ctx context.Context, err error) {
	switch {
	case t.came || err == nil:
		t.route.Ended(upstream.Served, "")
	case ctx.Err() != nil:
		t.route.Ended(upstream.Canceled, "")
	default:
		t.route.Ended(outcome(err), err.Error())
	}
}

// Window is how many tokens the model server takes, for a model of the set; 0: unknown. Of
// several servers it is the one that is asked first. The error is an *openai.Error.
func (p *Planner) Window(ctx context.Context, set *ruleset.Set, m ruleset.Model) (int, error) {
	route, err := p.Fleet.Route(set, m, "")
	if err != nil {
		return 0, openai.Internal("model " + m.ID.Value + ": " + err.Error())
	}
	t := Turn{p: p, set: set, route: route, as: &m}
	if err := t.locate(ctx); err != nil {
		return 0, err
	}
	return t.window, nil
}
