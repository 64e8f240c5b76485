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
	listTime  = 2 * time.Second // for collecting them
	briefText = 160             // of a call or a task in a list, in bytes
)

// noLog is the answer if there is no decision log.
var noLog = &trouble{http.StatusNotFound, "No decision log is written",
	"Start the server with --state DIR or --decisions DIR."}

// addressFilter is a filter of decisions as the address holds it.
type addressFilter struct{ Text, Effect, Rule, Tool, Session, Agent, From, To string }

func sieveOf(q url.Values) addressFilter {
	get := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	return addressFilter{get("q"), get("effect"), get("rule"), get("tool"), get("session"), get("agent"),
		get("from"),
		get("to")}
}

// Query returns the filter as a query.
func (f addressFilter) Query() string {
	q := url.Values{}
	for _, p := range f.Pairs() {
		q.Set(p.Name, p.Value)
	}
	return q.Encode()
}

// At returns the address of a page with the filter.
func (f addressFilter) At(page string) string {
	if q := f.Query(); q != "" {
		return Root + page + "?" + q
	}
	return Root + page
}

// Pairs returns the fields that are set.
func (f addressFilter) Pairs() (out []pair) {
	for _, p := range []pair{{"q", f.Text}, {"effect", f.Effect}, {"rule", f.Rule}, {"tool", f.Tool},
		{"session", f.Session}, {"agent", f.Agent}, {"from", f.From}, {"to", f.To}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// More reports whether a field below "more" is set.
func (f addressFilter) More() bool {
	return f.Rule+f.Tool+f.Session+f.Agent+f.From+f.To != ""
}

// filter converts the filter to that of the log. The error names a time that cannot be parsed.
func (f addressFilter) filter(now time.Time) (out decisions.Filter, err error) {
	out = decisions.Filter{Effect: f.Effect, Rule: f.Rule, Tool: f.Tool, Session: f.Session, Agent: f.Agent,
		Words: strings.Fields(f.Text)}
	if out.Since, err = parseMoment(f.From, now); err == nil {
		out.Until, err = parseMoment(f.To, now)
	}
	if day, not := time.ParseInLocation(time.DateOnly, f.To, now.Location()); not == nil { // through that day
		out.Until = day.AddDate(0, 0, 1)
	}
	return out, err
}

// parseMoment parses a time: a duration before now, or a day with or without a time. An empty text is the
// zero time.
func parseMoment(text string, now time.Time) (time.Time, error) {
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

// decisionRow shows a decision on one line.
type decisionRow struct {
	Seq                                                                uint64
	Href, At, Time, Effect, Outcome, Tool, Rule, Session, Brief, Notes string
	// the line is no record, or was changed
	Damaged string
}

// decisionsView shows a page of the log.
type decisionsView struct {
	Log     bool // a log exists
	Words   bool
	Filter  addressFilter
	Effects []policy.Effect
	Rows    []decisionRow
	Next    string // address of older records; empty: none
	Before  uint64
	Looked  int
	Back    time.Time // time of the last record that was examined
	Cut     bool      // the time limit was reached
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
	next := func() { // the next page begins after the last record of this one
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
			case broken != nil && run.lines > 0: // on one row, since pages begin after a record
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
	return out, logError(err)
}

// damage is a run of damaged lines of the log: no records, or changed ones.
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

// logError returns why the log cannot be read, or nil.
func logError(err error) error {
	if err == nil {
		return nil
	}
	return &trouble{http.StatusUnprocessableEntity, "The log cannot be read", shown(err.Error()) + "."}
}

// Fresh reports whether the page reloads itself: it shows the newest records, and is cheap.
func (v *decisionsView) Fresh() bool { return v.Before == 0 && v.Looked < 20*pageRows }

// words reports whether the rules let pages show what a model or a user wrote.
func (c *Console) words() bool {
	return c.Turns != nil && c.Turns.Words && ruleset.Of[Bounds](c.API.Rules.Set()).Words > 0
}

// filterOf returns a filter of the log. Without words the text must be an id, since hidden words must not
// be searched.
func (c *Console) filterOf(of addressFilter) (decisions.Filter, error) {
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
		out.Brief = clipMasked(c.text(k.Method + " " + k.Server))
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

// brief returns the most telling argument of a call, or else all of them; empty without words.
func (c *Console) brief(args json.RawMessage) string {
	if !c.words() {
		return ""
	}
	var in map[string]any
	if json.Unmarshal(args, &in) == nil {
		for _, key := range []string{"command", "path", "url"} {
			if s, ok := in[key].(string); ok {
				return clipMasked(head(s, 16*briefText).Text)
			}
		}
	}
	return clipMasked(shownJSON(args))
}

// clipMasked returns the beginning of a text, masked and on one line.
func clipMasked(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 4*briefText)]), " ")
	if len(s) > briefText {
		s = strings.ToValidUTF8(s[:briefText], "") + " …"
	}
	return s
}

// logHref returns the list of decisions with this value of a field.
func logHref(field, value string) string {
	return Root + "decisions?" + url.Values{field: {value}}.Encode()
}

// stamp formats a time with its day.
func stamp(t time.Time) string { return t.Local().Format(time.DateTime) }

// ruleText returns a rule file in force, from the operator's folder.
func (c *Console) ruleText(name string) string {
	return cmp.Or(c.API.Rules.Merged(nil)[name], rulefile.MissingFile(name))
}

// acquireWork gives the right to a slow task, which one page at a time may have; nil: it is taken.
func (c *Console) acquireWork() (leave func()) {
	select {
	case c.working <- struct{}{}:
		return func() { <-c.working }
	default:
		return nil
	}
}

var busy = &trouble{http.StatusServiceUnavailable, "The log is being read for another request",
	"One page at a time replays or verifies. Try again in a few seconds."}

// problemsOf returns the problems in an error.
func problemsOf(err error) (list rulefile.Problems) {
	if errors.As(err, &list) {
		return slices.Clone(list)
	}
	return nil
}
