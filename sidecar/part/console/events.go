package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	writeTime = 5 * time.Second  // for a write; a page that does not read is dropped
	pingTime  = 15 * time.Second // a line, so that proxies keep the connection
)

// events sends server-sent events while the viewer is signed in: new turns or changed runs on request, and
// the number of waiting approvals. Turns wake no stream: each polls a revision.
func (c *Console) events(w http.ResponseWriter, r *http.Request, v viewer) error {
	select {
	case c.watching <- struct{}{}:
		defer func() { <-c.watching }()
	default:
		return &trouble{http.StatusServiceUnavailable, "Too many pages are open",
			fmt.Sprintf("At most %d are told what is new.", maxWatching)}
	}
	query := r.URL.Query()
	s := stream{c: c, w: w, to: http.NewResponseController(w), filter: filterOf(query),
		turns: query.Get("turns") != ""}
	s.runs, s.run = query.Get("runs") != "" && c.Runs != nil, query.Get("run")
	s.runsRev, _ = strconv.ParseUint(query.Get("rev"), 10, 64)
	s.since, _ = strconv.ParseUint(query.Get("since"), 10, 64) // 0, which means everything, if it is missing
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	// The listener's deadlines suit answers that end. A recorder in a test has none.
	_ = s.to.SetReadDeadline(time.Time{})
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	lastSent := c.Now()
	err := s.write(":\n\n")
	for err == nil {
		var wrote bool
		if wrote, err = s.news(); wrote {
			lastSent = c.Now()
		} else if err == nil && c.Now().Sub(lastSent) > pingTime {
			lastSent, err = c.Now(), s.write(":\n\n")
		}
		if err != nil {
			break
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-c.API.Ending:
			return nil
		case <-tick.C:
		}
		if c.viewer(r).Role < v.Role {
			return nil // signed out: the page asks again, and is sent to the sign-in
		}
	}
	c.API.Log.Debug("a page of the console does not read, and was dropped", "event", "console_dropped",
		"from", r.RemoteAddr, "detail", err.Error())
	return nil
}

// stream sends events to one page.
type stream struct {
	c       *Console
	w       http.ResponseWriter
	to      *http.ResponseController
	filter  filter
	turns   bool
	since   uint64
	waiting string // the state of approvals that was sent last
	runs    bool   // the page wants runs, or the one with an id
	run     string
	runsRev uint64
}

// news writes what changed since the last call.
func (s *stream) news() (wrote bool, err error) {
	if waiting := s.c.waitingState(); waiting != s.waiting {
		s.waiting, wrote = waiting, true
		if err := s.event("approvals", json.RawMessage(waiting)); err != nil {
			return wrote, err
		}
	}
	if s.runs {
		if rev := s.c.Runs.Rev(s.run); rev != s.runsRev {
			s.runsRev, wrote = rev, true
			if err := s.event("runs", map[string]uint64{"rev": rev}); err != nil {
				return wrote, err
			}
		}
	}
	rev := s.c.Turns.Rev()
	if !s.turns || rev == s.since {
		return wrote, nil
	}
	rows, all := s.c.rows(s.since, s.filter)
	s.since = rev
	if all == 0 {
		return wrote, nil
	}
	return true, s.event("turns", map[string]any{"rows": rows, "more": all - len(rows), "since": rev})
}

func (s *stream) event(name string, v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("event: " + name + "\ndata: " + string(doc) + "\n\n")
}

func (s *stream) write(text string) error {
	_ = s.to.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.to.Flush()
}
