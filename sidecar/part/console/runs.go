package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
)

// States of a run on a page. An open run is in progress or was interrupted.
const (
	runGoesOn  = "running"
	runBroken  = "broken-off"
	runDamaged = "damaged"
)

// runStates returns the states of the filter.
func runStates() []string {
	return []string{runGoesOn, runBroken, run.Answered, run.Unfinished, run.Failed,
		run.Departed}
}

// isRun reports whether a text can be the id of a run. Only such a text becomes part of a path.
func isRun(id string) bool {
	return id != "" && len(id) <= 100 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
	})
}

// stateOf returns the state of a run.
func (c *Console) stateOf(p *run.Past) string {
	switch {
	case p.End != nil && !c.Runs.GoesOn(p.ID):
		return p.End.Status
	case c.Runs.GoesOn(p.ID):
		return runGoesOn
	}
	return runBroken
}

// runRow shows a run on one line.
type runRow struct {
	ID, Href, At, Time, State, Task, Model, Session, Took string
	Turns, Calls, Doubt                                   int
	Why                                                   string // it cannot be read
}

func (c *Console) runRow(p *run.Past) runRow {
	s := p.Summary()
	return runRow{
		ID: shown(p.ID), Href: Root + "runs/" + url.PathEscape(p.ID), At: p.Started.Format(time.RFC3339Nano),
		Time: stamp(p.Started), State: c.stateOf(p),
		Task: clipMasked(c.passage(p.Task(), 16*briefText).Text), Model: shown(p.Model),
		Session: shown(p.Session), Took: c.runTook(p), Turns: s.Turns, Calls: s.Calls, Doubt: s.Doubt,
	}
}

func (c *Console) runTook(p *run.Past) string {
	if c.Runs.GoesOn(p.ID) {
		return duration(max(0, c.Now().Sub(p.Started)))
	}
	return duration(p.Last.Sub(p.Started))
}

// runsView shows a page of the journal.
type runsView struct {
	Kept   bool
	Words  bool
	Text   string
	State  string
	States []string
	Rows   []runRow
	From   int
	Next   string // older ones; empty: there are none
	Looked int
	Cut    bool
	rev    uint64
}

func (v *runsView) events() string { return fmt.Sprintf("%sevents?runs=1&rev=%d", Root, v.rev) }

func (c *Console) runsPage(r *http.Request, _ viewer) (any, error) {
	q := r.URL.Query()
	out := &runsView{Kept: c.Runs != nil, Words: c.words(), Text: strings.TrimSpace(q.Get("q")),
		State: q.Get("state"), States: runStates()}
	if !out.Kept {
		return out, nil
	}
	out.From, _ = strconv.Atoi(q.Get("older")) // anything else is the beginning
	out.From = max(0, out.From)
	out.rev = c.Runs.Rev("")
	ends, at := c.Now().Add(listTime), out.From
	err := c.Runs.Walk(out.From, func(id string, p *run.Past, broken error) bool {
		row := runRow{ID: shown(id), State: runDamaged, Why: "It cannot be read."}
		if broken == nil {
			row = c.runRow(p)
		}
		fits := out.fits(&row, p)
		if out.Cut = c.Now().After(ends); out.Cut || fits && len(out.Rows) == pageRows {
			out.Next = Root + "runs?" + url.Values{"q": {out.Text}, "state": {out.State},
				"older": {strconv.Itoa(at)}}.Encode()
			return false
		}
		at++
		out.Looked++
		if fits {
			out.Rows = append(out.Rows, row)
		}
		return true
	})
	if err != nil {
		return nil, &trouble{http.StatusUnprocessableEntity, "The runs cannot be read",
			shown(err.Error()) + ". Give their folder back, or start the server anew: it makes one."}
	}
	return out, nil
}

// fits searches the visible texts of a run, and its whole task.
func (v *runsView) fits(row *runRow, p *run.Past) bool {
	if v.State != "" && v.State != row.State {
		return false
	}
	all := strings.Join([]string{row.ID, row.State, row.Task, row.Model, row.Session}, "\n")
	if p != nil {
		all += "\n" + p.Agent + "\n" + p.Channel
		if v.Words {
			all += "\n" + shown(p.Task())
		}
	}
	all = strings.ToLower(all)
	for _, word := range strings.Fields(strings.ToLower(v.Text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// resume continues an interrupted run.
func (c *Console) resume(w http.ResponseWriter, r *http.Request, v viewer) error {
	id := r.PathValue("id")
	if !isRun(id) {
		return noRun
	}
	if err := readWhole(w, r); err != nil {
		return err
	}
	err := c.Resumer.Resume(r.Context(), id, v.By())
	var refusal *admin.Error
	if errors.As(err, &refusal) {
		return &trouble{refusal.Status(), "The run does not go on",
			shown(refusal.Message) + ". " + shown(refusal.Hint) + "."}
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, Root+"runs/"+id+"?resumed=1", http.StatusSeeOther)
	return nil
}

var noRun = &trouble{http.StatusNotFound, "There is no such run",
	"The oldest runs are removed: the last 2,000 are kept, for 30 days."}
