package eval

import (
	"context"
	"fmt"
	"sync"
	"time"
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

// ask asks so many at once, until all are answered, ctx ends or an answer cannot be kept.
func (l *Live) ask(ctx context.Context, all []asking, known *answers) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan asking)
	var wait sync.WaitGroup
	var mu sync.Mutex // for how far it is
	done := 0
	for range max(1, l.Parallel) {
		wait.Go(func() {
			for q := range next {
				began := time.Now()
				made, err := q.of.ask(ctx, q.question, l.Wait)
				if ctx.Err() != nil {
					continue // it was cut off, and says nothing
				}
				if err := known.add(q.key, answered{made, float64(time.Since(began)) / float64(time.Millisecond), err}); err != nil {
					stop(err)
				}
				mu.Lock()
				done++
				if err != nil {
					l.tell(q.row().ID, q.of.Name, err)
				}
				l.progress(done, len(all))
				mu.Unlock()
			}
		})
	}
	for _, q := range all {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- q:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	if l.Rewrites {
		fmt.Fprintln(l.Tell)
	}
	return context.Cause(ctx)
}

// tell says at once what went wrong: a server that is down need not be asked for hours.
func (l *Live) tell(id, variant string, err error) {
	if l.Rewrites {
		fmt.Fprint(l.Tell, "\r\x1b[K")
	}
	fmt.Fprintf(l.Tell, "%s, %s: %v\n", id, variant, err)
}

func (l *Live) progress(done, all int) {
	const width = 30
	switch {
	case l.Rewrites:
		full := width * done / max(1, all)
		fmt.Fprintf(l.Tell, "\r[%-*s] %d of %d", width, "##############################"[:full], done, all)
	case done == all || done/max(1, all/10) > (done-1)/max(1, all/10):
		fmt.Fprintf(l.Tell, "%d of %d\n", done, all)
	}
}
