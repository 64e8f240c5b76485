package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

const (
	pageRows  = 50              // of a list of decisions or runs
	listTime  = 2 * time.Second // in which a page looks for them
	briefText = 160             // of a call or a task in a list, in bytes
)

// noLog is said where there is no decision log.
var noLog = &trouble{http.StatusNotFound, "No decision log is written",
	"Start the server with --state DIR or --decisions DIR."}

// sieve is which decisions are meant, as it stands in the address.
type sieve struct{ Text, Effect, Rule, Tool, Session, Agent, From, To string }

func sieveOf(q url.Values) sieve {
	get := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	return sieve{get("q"), get("effect"), get("rule"), get("tool"), get("session"), get("agent"), get("from"),
		get("to")}
}

// Query is the filter in an address.
func (f sieve) Query() string {
	q := url.Values{}
	for _, p := range f.Pairs() {
		q.Set(p.Name, p.Value)
	}
	return q.Encode()
}

// At is a page of the console with the filter.
func (f sieve) At(page string) string {
	if q := f.Query(); q != "" {
		return Root + page + "?" + q
	}
	return Root + page
}

// Pairs are what is set of the filter.
func (f sieve) Pairs() (out []pair) {
	for _, p := range []pair{{"q", f.Text}, {"effect", f.Effect}, {"rule", f.Rule}, {"tool", f.Tool},
		{"session", f.Session}, {"agent", f.Agent}, {"from", f.From}, {"to", f.To}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// More reports whether something is set that stands behind "more".
func (f sieve) More() bool {
	return f.Rule+f.Tool+f.Session+f.Agent+f.From+f.To != ""
}

// filter is the filter of the log. The error says which time cannot be read.
func (f sieve) filter(now time.Time) (out decisions.Filter, err error) {
	out = decisions.Filter{Effect: f.Effect, Rule: f.Rule, Tool: f.Tool, Session: f.Session, Agent: f.Agent,
		Words: strings.Fields(f.Text)}
	if out.Since, err = moment(f.From, now); err == nil {
		out.Until, err = moment(f.To, now)
	}
	if day, not := time.ParseInLocation(time.DateOnly, f.To, now.Location()); not == nil { // through that day
		out.Until = day.AddDate(0, 0, 1)
	}
	return out, err
}

// moment reads a time: how long ago, or a day with or without a time. Empty is none.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime,
		"2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &trouble{http.StatusBadRequest, "This is no time",
		fmt.Sprintf("%q cannot be read. Write how long ago, as 2h, or a day, as 2026-01-31, or 2026-01-31 09:30.", shown(text))}
}

// decisionRow is a decision in one line.
type decisionRow struct {
	Seq                                                                uint64
	Href, At, Time, Effect, Outcome, Tool, Rule, Session, Brief, Notes string
	// the line is no record, or was changed
	Damaged string
}

// decisionsView is a page of the log.
type decisionsView struct {
	Log     bool // there is one
	Words   bool
	Filter  sieve
	Effects []policy.Effect
	Rows    []decisionRow
	Next    string // the page of older ones; empty: there are none
	Before  uint64
	Looked  int
	Back    time.Time // the last record that was looked at
	Cut     bool      // time was up
}

func (c *Console) decisionsPage(r *http.Request, _ viewer) (any, error) {
	q := r.URL.Query()
	out := &decisionsView{Log: c.Decisions != "", Words: c.words(), Filter: sieveOf(q),
		Effects: []policy.Effect{policy.Allow, policy.Audit, policy.Ask, policy.Deny}}
	if !out.Log {
		return out, nil
	}
	f, err := c.filterOf(out.Filter)
	if err != nil {
		return nil, err
	}
	if text := q.Get("before"); text != "" {
		if out.Before, err = seqOf(text); err != nil {
			return nil, err
		}
	}
	ends, last := c.Now().Add(listTime), uint64(0)
	next := func() { // of what is not on this page
		out.Next = Root + "decisions?" + out.Filter.Query() + fmt.Sprintf("&before=%d", last)
	}
	run := damage{}
	err = decisions.Back(c.Decisions, out.Before, &decisions.Times{Since: f.Since, Until: f.Until},
		func(r *decisions.Record, broken error) bool {
			if out.Looked++; out.Looked%256 == 0 && last > 0 && c.Now().After(ends) {
				out.Cut = true
				next()
				return false
			}
			switch {
			case broken != nil && run.lines > 0: // of one row: pages begin behind a record
				run.add(broken)
				out.Rows[len(out.Rows)-1].Damaged = run.text()
				return true
			case broken == nil && r.Gap == nil && !f.Takes(r):
			case len(out.Rows) == pageRows:
				next()
				return false
			case broken != nil:
				run.add(broken)
				out.Rows = append(out.Rows, decisionRow{Seq: r.Seq, Damaged: run.text()})
				return true
			default:
				out.Rows = append(out.Rows, c.decisionRow(r))
			}
			run, last, out.Back = damage{}, r.Seq, r.Time
			return true
		})
	if errors.Is(err, fs.ErrNotExist) { // nothing was written yet
		err = nil
	}
	return out, unread(err)
}

// damage is a run of lines of the log that are no records, or were changed.
type damage struct {
	lines int
	first error // of the newest
}

func (d *damage) add(broken error) {
	if d.lines++; d.first == nil {
		d.first = broken
	}
}

func (d *damage) text() string {
	if d.lines == 1 {
		return shown(d.first.Error())
	}
	return fmt.Sprintf("%s, and so are %s before it", shown(d.first.Error()),
		terminal.Count(d.lines-1, "line"))
}

// unread is why the log cannot be read; nil: it can.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return &trouble{http.StatusUnprocessableEntity, "The log cannot be read", shown(err.Error()) + "."}
}

// Fresh reports whether the page is fetched again by itself: it shows the newest, and costs little.
func (v *decisionsView) Fresh() bool { return v.Before == 0 && v.Looked < 20*pageRows }

// words reports whether what a model or a user wrote may be shown.
func (c *Console) words() bool {
	return c.Turns != nil && c.Turns.Words && ruleset.Of[Bounds](c.API.Rules.Set()).Words > 0
}

// filterOf is a filter of the log. Words that are not shown are not searched: then the text is an id, as
// in links.
func (c *Console) filterOf(of sieve) (decisions.Filter, error) {
	f, err := of.filter(c.Now())
	if !c.words() {
		f.Words, f.ID = nil, of.Text
	}
	return f, err
}

func (c *Console) decisionRow(r *decisions.Record) decisionRow {
	out := decisionRow{Seq: r.Seq, Href: fmt.Sprintf("%sdecisions/%d", Root, r.Seq),
		At: r.Time.Format(time.RFC3339Nano), Time: stamp(r.Time)}
	var findings []policy.Finding
	if g := r.Gap; g != nil {
		out.Effect, out.Outcome, out.Brief = "gap", "lost", shown(fmt.Sprintf("%s could not be written: %s",
			terminal.Count(int(g.Lost), "record"), g.Why))
		return out
	}
	if k := r.Connection; k != nil {
		findings = k.Findings
		out.Effect, out.Outcome, out.Tool, out.Rule, out.Session = string(k.Effect), string(k.Outcome),
			shown(k.Tool), cmp.Or(k.Rule, "default"), shown(k.Session)
		out.Brief = clipped(c.text(k.Method + " " + k.Server))
	} else {
		d := r.Decision
		findings = d.Findings
		out.Effect, out.Outcome, out.Tool, out.Rule, out.Session = string(d.Effect), string(d.Outcome),
			shown(d.Tool), d.RuleName(), shown(d.Session)
		out.Brief = c.brief(d.Arguments)
	}
	var notes []string
	for _, f := range findings {
		notes = append(notes, "dry run: "+f.Rule)
	}
	if d := r.Decision; d != nil && d.Approval != "" {
		notes = append(notes, strings.TrimSuffix("approval "+d.Approval+" for "+d.Grant, " for "))
	}
	out.Notes = strings.Join(notes, ", ")
	return out
}

// brief is the one argument of a call that says most, or all of them; nothing where words are not
// shown.
func (c *Console) brief(args json.RawMessage) string {
	if !c.words() {
		return ""
	}
	var in map[string]any
	if json.Unmarshal(args, &in) == nil {
		for _, key := range []string{"command", "path", "url"} {
			if s, ok := in[key].(string); ok {
				return clipped(head(s, 16*briefText).Text)
			}
		}
	}
	return clipped(shownJSON(args))
}

// clipped is the beginning of a text that is masked, on one line.
func clipped(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 4*briefText)]), " ")
	if len(s) > briefText {
		s = strings.ToValidUTF8(s[:briefText], "") + " …"
	}
	return s
}

// stamp is a time with its day.
func stamp(t time.Time) string { return t.Local().Format(time.DateTime) }

// ruleText is a file of the operator's rules that are in force, as one may edit it.
func (c *Console) ruleText(name string) string {
	return cmp.Or(c.API.Rules.Merged(nil)[name], rulefile.MissingFile(name))
}

// one lets one page at a time do what takes long; nil: another one does.
func (c *Console) one() (leave func()) {
	select {
	case c.working <- struct{}{}:
		return func() { <-c.working }
	default:
		return nil
	}
}

var busy = &trouble{http.StatusServiceUnavailable, "The log is being read for somebody else",
	"One page at a time replays or verifies. Try again in a few seconds."}

// problemsOf are the problems of rules that do not load.
func problemsOf(err error) (list rulefile.Problems) {
	if errors.As(err, &list) {
		return slices.Clone(list)
	}
	return nil
}
