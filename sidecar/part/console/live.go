package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxRows limits the turns in the list, and in one event.
const maxRows = 60

// row shows a turn on one line. Its JSON names are the data-f attributes in pages/live.html.
type row struct {
	ID         string `json:"id"`
	Href       string `json:"href"`
	Outcome    string `json:"outcome"`
	At         string `json:"at"`
	Time       string `json:"time"`
	Model      string `json:"model"`
	Session    string `json:"session"`
	Arm        string `json:"arm"`
	Strategies string `json:"strategies"`
	Repairs    string `json:"repairs"`
	Calls      string `json:"calls"`
	Lost       string `json:"lost"`   // names of refused calls
	Undone     string `json:"undone"` // how they were refused
	Decisions  string `json:"decisions"`
	Tokens     string `json:"tokens"`
	Took       string `json:"took"`
	Note       string `json:"note"`
}

func rowOf(t *Turn, now time.Time) row {
	r := row{
		ID: t.ID, Href: turnPath(t.ID), Outcome: string(t.Outcome()), At: t.Began.Format(time.RFC3339Nano),
		Time:  t.Began.Format("15:04:05"),
		Model: shown(t.Model), Session: shown(cmp.Or(t.Session, t.Agent)), Arm: strings.Join(t.Arms, " "),
		Took: took(t, now), Note: note(t),
	}
	repairs := 0
	var names, lost, strategies []string
	became := map[string]int{}
	for i := range t.Replies {
		reading := &t.Replies[i].Reading
		for k := range reading.Calls {
			call := &reading.Calls[k]
			repairs += len(guard.Repairs(call))
			names = append(names, call.Name)
			if !slices.Contains(strategies, call.Strategy) {
				strategies = append(strategies, call.Strategy)
			}
			became[string(guard.OutcomeOf(call))]++
		}
		for k := range reading.Refused {
			became[refusedWord(&reading.Refused[k])]++
			if name := shortName(reading.Refused[k].Name); name != "" && len(lost) < maxLost {
				lost = append(lost, name)
			}
		}
	}
	r.Strategies, r.Calls, r.Decisions = strings.Join(strategies, " "), shown(joinCounted(names)),
		outcomes(became)
	if r.Lost = joinCounted(lost); r.Lost != "" {
		r.Undone = "not made"
	}
	if r.Calls == "" && t.Done && t.Status < http.StatusBadRequest && r.Decisions == "" {
		r.Calls = "no call"
	}
	if repairs > 0 {
		r.Repairs = fmt.Sprint(repairs)
	}
	if a := t.Account; a.Prompt+a.Completion > 0 {
		r.Tokens = fmt.Sprintf("%s → %s", tokenWords(a.Prompt), tokenWords(a.Completion))
	}
	return r
}

// turnPath returns the page of a turn.
func turnPath(id string) string { return Root + "turns/" + url.PathEscape(id) }

// maxLost is how many refused calls a row names.
const maxLost = 20

// refusedWord describes a refused call; only the policy denies.
func refusedWord(f *tools.Refusal) string {
	switch {
	case f.Waits:
		return "waiting"
	case f.Code == tools.Denied:
		return "denied"
	case f.Code == tools.NotOffered:
		return "no such tool"
	}
	return "not usable"
}

// outcomes counts calls by their outcome.
func outcomes(became map[string]int) string {
	var out []string
	for _, word := range []string{"left", "confined", "asked", "waiting", "denied", "no such tool",
		"not usable"} {
		if n := became[word]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, fateWords(word)))
		}
	}
	return strings.Join(out, ", ")
}

// joinCounted joins names without duplicates, each with its number.
func joinCounted(names []string) string {
	var once []string
	times := map[string]int{}
	for _, n := range names {
		if times[n]++; times[n] == 1 {
			once = append(once, n)
		}
	}
	for i, n := range once {
		if times[n] > 1 {
			once[i] = fmt.Sprintf("%s ×%d", n, times[n])
		}
	}
	return strings.Join(once, ", ")
}

// note returns the most telling fact about a turn that was not plainly good.
func note(t *Turn) string {
	switch {
	case t.Done && t.Why != "":
		return shown(fmt.Sprintf("%d %s", t.Status, t.Why))
	case len(t.Account.Faults) > 0:
		var faults []string
		for _, f := range t.Account.Faults {
			if f.Fault == ruleset.Denied && f.Why != "" {
				return shown(f.Why) // the column of decisions already says so
			}
			faults = append(faults, string(f.Fault))
		}
		return joinCounted(faults)
	}
	return shown(joinCounted(renamed(t)))
}

// renamed returns the calls whose name was repaired.
func renamed(t *Turn) (out []string) {
	for i := range t.Replies {
		for k := range t.Replies[i].Reading.Calls {
			for _, r := range t.Replies[i].Reading.Calls[k].Repairs {
				if r.Kind != "name.clean" && strings.HasPrefix(r.Kind, "name.") && r.From != "" &&
					len(out) < maxLost {
					out = append(out, r.From+" → "+r.To)
				}
			}
		}
	}
	return out
}

func took(t *Turn, now time.Time) string {
	if t.Done {
		return duration(t.Took)
	}
	return duration(max(0, now.Sub(t.Began)))
}

// filter selects the listed turns.
type filter struct{ Text, Outcome string }

func filterOf(q url.Values) filter {
	return filter{Text: strings.TrimSpace(q.Get("q")), Outcome: q.Get("outcome")}
}

// fits returns a predicate that searches the visible texts of a row.
func (f filter) fits(now time.Time) func(*Turn) bool {
	words := strings.Fields(strings.ToLower(f.Text))
	return func(t *Turn) bool {
		if f.Outcome != "" && f.Outcome != string(t.Outcome()) {
			return false
		}
		if len(words) == 0 {
			return true
		}
		r := rowOf(t, now)
		all := strings.ToLower(strings.Join([]string{r.ID, r.Outcome, r.Model, r.Session, t.Agent, t.Channel,
			t.Run, r.Arm, r.Strategies, r.Calls, r.Lost, r.Decisions, r.Note}, "\n"))
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
	}
}

func (f filter) query() string {
	q := url.Values{"turns": {"1"}}
	if f.Text != "" {
		q.Set("q", f.Text)
	}
	if f.Outcome != "" {
		q.Set("outcome", f.Outcome)
	}
	return q.Encode()
}

// reportTime limits reading the decision log for the page of the last turns.
const reportTime = 200 * time.Millisecond

// liveView shows the last turns.
type liveView struct {
	Filter   filter
	Outcomes []Outcome
	Rows     []row
	Blank    row // template of new rows
	All      int
	Arms     bool // one of the turns was in an arm
	Kept     bool // turns are kept
	Words    bool
	Week     *Report // nil: not counted
	since    uint64
}

func (l *liveView) events() string {
	return Root + "events?" + l.Filter.query() + fmt.Sprintf("&since=%d", l.since)
}

func (c *Console) livePage(r *http.Request, _ viewer) (any, error) {
	out := &liveView{Filter: filterOf(r.URL.Query()), Outcomes: Outcomes(), Kept: c.Turns != nil &&
		ruleset.Of[Bounds](c.API.Rules.Set()).Turns > 0, Words: c.words(), since: c.Turns.Rev()}
	if c.Counter != nil {
		week := c.Now().Add(-7 * 24 * time.Hour)
		sum, err := c.Counter.Since(week)
		if err == nil {
			out.Week, err = report(sum, c.Decisions, week, reportTime)
		}
		if err != nil {
			return nil, err
		}
	}
	out.Rows, out.All = c.rows(0, out.Filter)
	out.Arms = slices.ContainsFunc(out.Rows, func(r row) bool { return r.Arm != "" })
	return out, nil
}

// rows returns the turns that changed after a revision, newest first.
func (c *Console) rows(since uint64, f filter) (out []row, all int) {
	now := c.Now()
	list, all := c.Turns.Since(since, maxRows, f.fits(now))
	for i := range list {
		out = append(out, rowOf(&list[i], now))
	}
	return out, all
}

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
