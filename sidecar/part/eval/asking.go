package eval

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// asking is a question to one server without a known answer.
type asking struct {
	question
	of  *server
	key string
}

// open returns the questions without a known answer, in order and without duplicates: variants with the
// same rules share an answer.
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

// run is the state while questions are asked.
type run struct {
	*Live
	all int

	mu    sync.Mutex
	ended *sync.Cond // signals that one has ended
	on    int        // open questions
	over  bool       // one was cut off
	done  int
	sum   taken // of the ended ones
	most  taken // maximum of one
}

// taken is the cost of answers.
type taken struct {
	requests int
	Spent
}

// ask asks questions in parallel until all are answered, a bound is reached, ctx ends or an answer cannot
// be stored. It returns the number of answers and their cost.
func (l *Live) ask(ctx context.Context, all []asking, known *answers) (int, taken, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := run{Live: l, all: len(all)}
	r.ended = sync.NewCond(&r.mu)
	var wait sync.WaitGroup
	for _, q := range all {
		if !r.begin(ctx) {
			break
		}
		wait.Go(func() {
			if err := r.one(ctx, q, known); err != nil {
				stop(err)
			}
		})
	}
	wait.Wait()
	if l.Rewrites {
		fmt.Fprintln(l.Tell)
	}
	return r.done, r.sum, context.Cause(ctx)
}

// begin waits until another question may be asked, and reports whether it may. Each open question is
// assumed to cost as much as the most expensive one so far; so the first one is asked alone.
func (r *run) begin(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.on > 0 && (r.on >= max(1, r.Parallel) || r.Most.bounded() && (r.most.requests == 0 ||
		r.reached())) {
		r.ended.Wait()
	}
	if r.over || ctx.Err() != nil || r.reached() {
		return false
	}
	r.on++
	return true
}

// reached reports whether a bound is reached. A question that would be cut off is not asked.
func (r *run) reached() bool {
	s := r.sum.Spent
	s.Prompt, s.Completion = s.Prompt+r.on*r.most.Prompt, s.Completion+r.on*r.most.Completion
	return r.Most.reached(r.sum.requests+(r.on+1)*r.most.requests-1, s)
}

// one asks a question and stores the answer, unless it was cut off.
func (r *run) one(ctx context.Context, q asking, known *answers) error {
	made, err := q.of.ask(ctx, q.question, r.Wait)
	made.failed = err
	cut := ctx.Err() != nil || errors.Is(err, errBound)
	var kept error
	if !cut {
		kept = known.add(q.key, made)
	}
	return errors.Join(kept, r.took(&q, &made, cut))
}

// took adds the cost of an answer, and prints the progress. It fails if a bound needs counts that the
// server does not give.
func (r *run) took(q *asking, made *answered, cut bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on--
	r.ended.Signal()
	r.sum.requests += made.sent
	r.sum.add(made.Spent)
	r.most = taken{max(r.most.requests, made.sent), Spent{Prompt: max(r.most.Prompt, made.Prompt),
		Completion: max(r.most.Completion, made.Completion)}}
	if r.over = r.over || cut; cut {
		return nil
	}
	r.done++
	if made.failed != nil {
		r.tell(q.row().ID, q.of.Name, made.failed)
	}
	r.progress(r.done, r.all, r.sum.Spent)
	if r.Most.counts() && made.failed == nil && r.sum.tokens() == 0 {
		return errors.New("this model server does not say how many tokens an answer takes, so they cannot be bounded; --max-requests can")
	}
	return nil
}

// tell prints a failure at once: a server that is down shows early.
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
		fmt.Fprintf(l.Tell, "\r\x1b[K[%-*s] %d of %d, %s", width, "##############################"[:full],
			done, all, l.Most.sentence(spent))
	case done == all || done/max(1, all/10) > (done-1)/max(1, all/10):
		fmt.Fprintf(l.Tell, "%d of %d, %s\n", done, all, l.Most.sentence(spent))
	}
}
