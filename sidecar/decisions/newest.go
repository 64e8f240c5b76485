package decisions

import (
	"context"
	"fmt"
	"time"
)

// Newest are the newest decisions about calls that a filter takes, as a replay has to know them.
type Newest struct {
	Since time.Time // the oldest of them
	Cut   bool      // there are older ones, or nobody knows: ctx had ended
	Short bool      // not all that their sessions did in the day before is counted

	from, to time.Time // what was before and after is not decided again
	sessions map[string]bool
}

// FindNewest finds so many decisions at most, until ctx ends. Of those before them, which count for
// the rates of their sessions, at most as many are looked at.
func FindNewest(ctx context.Context, dir string, f Filter, most int) (*Newest, error) {
	n := &Newest{Since: f.Since, sessions: map[string]bool{}}
	taken, ahead, looked, oldest := 0, 0, 0, time.Time{}
	err := Back(dir, 0, func(r *Record, broken error) bool {
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
		d := r.Decision
		in := !n.Cut && !r.Time.Before(f.Since) // records stand by their time
		switch fits := in && f.Takes(r); {
		case fits && taken < most:
			if taken++; taken == 1 {
				n.to = r.Time
			}
			oldest, n.from, n.sessions[d.Session] = r.Time, r.Time, true
			ahead, n.Short = 0, false
			return true
		case fits:
			n.Cut, in = true, false
		}
		counts := taken > 0 && !r.Time.Before(oldest.Add(-lookBack))
		if counts && n.sessions[d.Session] {
			if n.Short = ahead == most; !n.Short {
				n.from = r.Time
				ahead++
			}
		}
		return in || counts && !n.Short
	})
	if n.Cut {
		n.Since = oldest
	}
	return n, err
}

// ReplayNewest is Replay of these decisions until ctx ends. Damage in files that end before them is
// not counted.
func ReplayNewest(ctx context.Context, dir string, f Filter, n *Newest, decide Decider, tell func(*Change)) (*Tally, error) {
	if len(n.sessions) == 0 {
		return &Tally{}, nil
	}
	list, err := segments(dir)
	if err != nil {
		return &Tally{}, fmt.Errorf("read decisions: %w", err)
	}
	for len(list) > 1 {
		if next, err := list[1].begins(); err != nil || !next.Time.Before(n.from) {
			break
		}
		list = list[1:]
	}
	f.Since = n.Since
	return again(ctx, list, f, func(r *Record) bool {
		return n.sessions[r.Decision.Session] && !r.Time.Before(n.from) && !r.Time.After(n.to)
	}, decide, tell)
}
