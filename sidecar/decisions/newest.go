package decisions

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Newest are the newest decisions that a filter selects, with what a replay must know of them.
type Newest struct {
	Since time.Time // time of the oldest
	Cut   bool      // there may be older ones
	Short bool      // earlier decisions of their sessions are incomplete

	from, to time.Time // decisions outside of from and to are not replayed
	sessions map[string]bool
}

// FindNewest finds at most so many decisions, until ctx ends. It looks at no more than that of the
// earlier ones, which count for the rates of their sessions.
func FindNewest(ctx context.Context, dir string, f Filter, most int) (*Newest, error) {
	n := &Newest{Since: f.Since, sessions: map[string]bool{}}
	times := Times{Until: f.Until}
	if !f.Since.IsZero() {
		times.Since = f.Since.Add(-lookBack)
	}
	taken, ahead, looked, oldest := 0, 0, 0, time.Time{}
	err := Back(dir, 0, &times, func(r *Record, broken error) bool {
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			if !n.Cut && !r.Time.Before(f.Since) {
				n.Cut, oldest = true, r.Time // all since then are known
			}
			n.Short = true
			return false
		}
		if broken != nil || r.Decision == nil {
			return true
		}
		in := !n.Cut && !r.Time.Before(f.Since)
		switch fits := in && f.Takes(r); {
		case fits && taken < most:
			taken++
			if r.Time.After(n.to) {
				n.to = r.Time
			}
			oldest, n.from, n.sessions[r.Decision.Session] = r.Time, r.Time, true
			ahead, n.Short = 0, false
			return true
		case fits:
			n.Cut, in, times.Since = true, false, oldest.Add(-lookBack)
		}
		if n.sessions[r.Decision.Session] && !r.Time.Before(oldest.Add(-lookBack)) {
			if n.Short = ahead == most; !n.Short {
				n.from = r.Time
				ahead++
			}
		}
		return in || !n.Short
	})
	if n.Cut {
		n.Since = oldest
	}
	return n, err
}

// ReplayNewest replays these decisions until ctx ends. Damage in files of other times is not counted.
func ReplayNewest(ctx context.Context, dir string, f Filter, n *Newest, decide Decider,
	tell func(*Change)) (*Tally, error) {
	if len(n.sessions) == 0 {
		return &Tally{}, nil
	}
	list, err := segments(dir)
	if err != nil {
		return &Tally{}, fmt.Errorf("read decisions: %w", err)
	}
	list = slices.DeleteFunc(list, (&Times{Since: n.from, Until: n.to.Add(1)}).excludes)
	f.Since = n.Since
	return replay(ctx, list, f, func(r *Record) bool {
		return n.sessions[r.Decision.Session] && !r.Time.Before(n.from) && !r.Time.After(n.to)
	}, decide, tell)
}
