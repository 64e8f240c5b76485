package decisions

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Newest are the newest decisions about calls that a filter takes, as a replay has to know them.
type Newest struct {
	Since time.Time // the oldest of them
	Cut   bool      // there are older ones, or that is unknown: ctx had ended
	Short bool      // not all that their sessions did in the day before is counted

	from, to time.Time // what was before and after is not decided again
	sessions map[string]bool
}

// FindNewest finds so many decisions at most, until ctx ends. Of those before them, which count for
// the rates of their sessions, at most as many are looked at.
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

// ReplayNewest is Replay of these decisions until ctx ends. Damage in files of other times is not
// counted.
func ReplayNewest(ctx context.Context, dir string, f Filter, n *Newest, decide Decider,
	tell func(*Change)) (*Tally, error) {
	if len(n.sessions) == 0 {
		return &Tally{}, nil
	}
	list, err := segments(dir)
	if err != nil {
		return &Tally{}, fmt.Errorf("read decisions: %w", err)
	}
	list = slices.DeleteFunc(list, (&Times{Since: n.from, Until: n.to.Add(1)}).miss)
	f.Since = n.Since
	return again(ctx, list, f, func(r *Record) bool {
		return n.sessions[r.Decision.Session] && !r.Time.Before(n.from) && !r.Time.After(n.to)
	}, decide, tell)
}
