package console

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Report summarizes the work of the sidecar over some time in numbers. It has no text of conversations, no
// path and no address, so that it can be shared.
type Report struct {
	Version string        `json:"version"` // of the program
	Since   time.Time     `json:"since"`
	Turns   tally         `json:"turns"`
	Damage  []damageCount `json:"damage"` // the most frequent first
	Rules   []ruleCount   `json:"rules"`  // that asked or denied; the most frequent first
	Yes     int           `json:"yes"`    // answers of people to what the sidecar asked
	No      int           `json:"no"`
	// the policy took so long for these decisions
	Decisions int           `json:"decisions"`
	Judging   time.Duration `json:"judging_ns"`
}

// damageCount counts one class of damage from one kind of model server, by the outcome of the turns.
type damageCount struct {
	Server string          `json:"server"`
	Class  string          `json:"class"`
	Turns  int             `json:"turns"`
	Came   map[Outcome]int `json:"came_to"`
}

type ruleCount struct {
	Rule   string `json:"rule"`
	Effect string `json:"effect"`
	Times  int    `json:"times"`
}

// maxReported is how many classes and rules a report lists.
const maxReported = 20

// report builds the report since a time. It reads the decision log for at most most; 0: to its end.
func report(sum tally, log string, since time.Time, most time.Duration) (*Report, error) {
	r := &Report{Version: built.Version(), Since: since, Turns: sum}
	for server, classes := range sum.Damage {
		for class, came := range classes {
			d := damageCount{Server: server, Class: class, Came: came}
			for _, n := range came {
				d.Turns += n
			}
			r.Damage = append(r.Damage, d)
		}
	}
	slices.SortFunc(r.Damage, func(a, b damageCount) int {
		return cmp.Or(b.Turns-a.Turns, strings.Compare(a.Server+a.Class, b.Server+b.Class))
	})
	r.Damage = r.Damage[:min(len(r.Damage), maxReported)]
	if _, err := os.Stat(log); log == "" || err != nil { // there is none, or none yet
		return r, nil
	}
	began, rules := time.Now(), map[[2]string]int{}
	err := decisions.Read(log, func(d *decisions.Record, broken error) bool {
		if broken == nil && !d.Time.Before(since) {
			r.count(d, rules)
		}
		return most == 0 || time.Since(began) < most
	})
	for rule, n := range rules {
		r.Rules = append(r.Rules, ruleCount{rule[0], rule[1], n})
	}
	slices.SortFunc(r.Rules, func(a, b ruleCount) int {
		return cmp.Or(b.Times-a.Times, strings.Compare(a.Rule, b.Rule))
	})
	r.Rules = r.Rules[:min(len(r.Rules), maxReported)]
	return r, err
}

// count counts a record of the log.
func (r *Report) count(d *decisions.Record, rules map[[2]string]int) {
	switch {
	case d.Decision != nil:
		r.Decisions++
		r.Judging += d.Decision.Took
		if o := d.Decision.Outcome; o == decisions.Asked || o == decisions.Refused {
			rules[[2]string{d.Decision.RuleName(), string(d.Decision.Effect)}]++
		}
	case d.Answer != nil && d.Answer.State == "allowed":
		r.Yes++
	case d.Answer != nil:
		r.No++
	}
}

// Damaged returns how many damaged turns were repaired, and how many failed.
func (r *Report) Damaged() (saved, lost int) {
	t := r.Turns.Turns
	return t[Repaired] + t[Again], t[givenUp] + t[Failed]
}

// Headline summarizes the report in one sentence.
func (r *Report) Headline() string {
	all := r.Turns.All()
	if all == 0 {
		return "no turn has ended yet"
	}
	saved, lost := r.Damaged()
	return fmt.Sprintf("%d turns: %d came damaged and were saved, %d were lost; "+
		"the policy asked about %d calls and denied %d", all, saved, lost, r.Turns.Asked, r.Turns.Denied)
}

// Cost describes the time that it took.
func (r *Report) Cost() string {
	text := "asking the model again took " + duration(r.Turns.Again) + " of " + duration(r.Turns.Took)
	if r.Decisions > 0 {
		text += ", and judging a call " + duration(r.Judging/time.Duration(r.Decisions))
	}
	return text
}

// Answers describes how often people allowed a call.
func (r *Report) Answers() string {
	if r.Yes+r.No == 0 {
		return "people answered none in the console or with approvals"
	}
	return fmt.Sprintf("people said yes to %d of %d", r.Yes, r.Yes+r.No)
}

// Became describes the outcomes.
func (d damageCount) Became() string {
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(d.Came)) {
		parts = append(parts, fmt.Sprintf("%s %d", o, d.Came[o]))
	}
	return strings.Join(parts, ", ")
}

// rows formats the report for people.
func (r *Report) rows() []cli.Row {
	var out cli.Rows
	out.Add(0, cli.Bold, "", "since %s: %s", r.Since.Format(time.DateTime), r.Headline())
	if len(r.Damage) > 0 {
		out.Say("")
		out.Add(0, cli.Bold, "", "%-12s %-16s %6s  what the turns came to", "server", "damage", "turns")
		for _, d := range r.Damage {
			out.Say("%-12s %-16s %6d  %s", d.Server, d.Class, d.Turns, d.Became())
		}
	}
	out.Say("")
	t := r.Turns
	out.Say("policy: asked about %d, denied %d, confined %d; %s", t.Asked, t.Denied, t.Confined, r.Answers())
	for _, rule := range r.Rules {
		out.Add(1, cli.Plain, "", "%-5s %-24s %6d", rule.Effect, rule.Rule, rule.Times)
	}
	out.Say("time: %s", r.Cost())
	return out.List
}

//go:embed report.html
var reportPage string

// write writes the report as a self-contained page.
func (r *Report) write(path string) error {
	page, err := template.New("report").Parse(reportPage)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(page.Execute(f, r), f.Close())
}

func reportCommand(env cli.Env) *cobra.Command {
	var since, state, file string
	var asJSON bool
	c := &cobra.Command{
		Use:  "report",
		Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			age, err := ageOf(since)
			if err != nil {
				return cli.Misused(c, err)
			}
			s := env.DefaultSettings()
			if err := s.Override(env.Environ); err != nil {
				return err
			}
			s.State = cmp.Or(state, s.State)
			if s.State, err = service.StateOf(s); err != nil {
				return err
			}
			if _, err := os.Stat(s.State); err != nil {
				return fmt.Errorf("there is no state folder %s; name that of the server with --state", s.State)
			}
			from := time.Now().Add(-age)
			sum, err := readTally(filepath.Join(s.State, tallyFile), from)
			if err != nil {
				return err
			}
			r, err := report(sum, service.DecisionsIn(s), from, 0)
			if err != nil {
				return err
			}
			if file != "" {
				return r.write(file)
			}
			return env.Printer(asJSON).Document(r, r.rows())
		},
	}
	c.Flags().StringVar(&since, "since", "7d", "the last `TIME`, such as 2h or 7d")
	c.Flags().StringVar(&state, "state", "", "state folder `DIR` of the server")
	c.Flags().StringVar(&file, "html", "", "write one HTML page to `FILE`")
	cli.JSONFlag(c, &asJSON, "one document")
	cli.Modes(c, "html: since state", ": since state json")
	return c
}

// ageOf parses a duration such as 2h or 7d.
func ageOf(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if isDays {
		text = days + "h"
	}
	age, err := time.ParseDuration(text)
	if isDays {
		age *= 24
	}
	if err != nil || age <= 0 {
		return 0, errors.New("--since takes a time, such as 2h or 7d")
	}
	return age, nil
}
