package eval

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// asking is a question to one server whose answer is not known.
type asking struct {
	question
	of  *server
	key string
}

// open are the questions whose answers are not known, in order, each once: variants with the same
// rules share an answer.
func (a *answers) open(questions []question, servers []*server) (out []asking) {
	seen := map[string]bool{}
	for _, q := range questions {
		for _, s := range servers {
			key := s.key(q)
			if _, known := a.made[key]; !known && !seen[key] {
				seen[key] = true
				out = append(out, asking{q, s, key})
			}
		}
	}
	return out
}

// run is what becomes of questions while they are asked.
type run struct {
	*Live
	all int

	mu    sync.Mutex
	done  int
	spent Spent
}

// ask asks so many at once, until all are answered, a bound is reached, ctx ends or an answer cannot
// be kept. It says how many were asked, and what that took.
func (l *Live) ask(ctx context.Context, all []asking, known *answers) (int, Spent, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	open, enough := context.WithCancel(ctx)
	defer enough()
	r := run{Live: l, all: len(all)}
	next := make(chan asking)
	var wait sync.WaitGroup
	for range max(1, l.Parallel) {
		wait.Go(func() {
			for q := range next {
				if open.Err() != nil {
					continue
				}
				made, err := q.of.ask(ctx, q.question, l.Wait)
				if ctx.Err() != nil {
					continue // it was cut off, and says nothing
				}
				made.failed = err
				if err := errors.Join(known.add(q.key, made), r.took(&q, &made, enough)); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, q := range all {
		select {
		case next <- q:
		case <-open.Done():
		}
	}
	close(next)
	wait.Wait()
	if l.Rewrites {
		fmt.Fprintln(l.Tell)
	}
	return r.done, r.spent, context.Cause(ctx)
}

// took counts an answer, and tells how far it is. A bound that nothing is counted for is an error.
func (r *run) took(q *asking, made *answered, enough func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	r.spent.add(made.Spent)
	if made.failed != nil {
		r.tell(q.row().ID, q.of.Name, made.failed)
	}
	r.progress(r.done, r.all, r.spent)
	if r.Most.reached(r.spent) {
		enough()
	}
	if r.Most.counts() && made.failed == nil && r.spent.tokens() == 0 {
		return errors.New("this model server does not say how many tokens an answer takes, so they cannot be bounded; --max-requests can")
	}
	return nil
}

// tell says at once what went wrong: a server that is down need not be asked for hours.
func (l *Live) tell(id, variant string, err error) {
	if l.Rewrites {
		fmt.Fprint(l.Tell, "\r\x1b[K")
	}
	fmt.Fprintf(l.Tell, "%s, %s: %v\n", id, variant, err)
}

func (l *Live) progress(done, all int, spent Spent) {
	const width = 30
	switch {
	case l.Rewrites:
		full := width * done / max(1, all)
		fmt.Fprintf(l.Tell, "\r\x1b[K[%-*s] %d of %d, %s", width, "##############################"[:full], done, all, l.Most.told(spent))
	case done == all || done/max(1, all/10) > (done-1)/max(1, all/10):
		fmt.Fprintf(l.Tell, "%d of %d, %s\n", done, all, l.Most.told(spent))
	}
}
