package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// captured holds the flags of one capture command.
type captured struct {
	state, as, to, rules, policy string
	since                        time.Duration
	filter                       captureFilter
	json                         bool
	env                          cli.Env
}

func captureCommand(env cli.Env) *cobra.Command {
	x := captured{env: env}
	c := &cobra.Command{
		Use: "capture",
	}
	state, _ := env.Lookup(config.Prefix + "STATE")
	c.PersistentFlags().StringVar(&x.state, "state", state, "state folder `DIR` of the server")
	list := &cobra.Command{
		Use: "list", Args: cli.Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return x.list() },
	}
	cli.JSONFlag(list, &x.json, "a record on each line, as eval reads them")
	list.Flags().DurationVar(&x.since, "since", 0, "only the last `TIME`, such as 2h or 168h")
	list.Flags().StringVar(&x.filter.Arm, "arm", "", "only this `EXPERIMENT`, or EXPERIMENT/ARM")
	list.Flags().StringSliceVar(&x.filter.Is, "is", nil, "only what is all of these `WORDS`: "+
		strings.Join(captureMarks(), ", "))
	list.Flags().StringVar(&x.filter.Where, "where", "",
		"only what this `CONDITION` holds for, as capture.when of experiments.yaml has it")
	show := &cobra.Command{
		Use: "show ID", Args: cli.Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return x.show(args[0]) },
	}
	cli.JSONFlag(show, &x.json, "the record")
	promote := &cobra.Command{
		Use:  "promote ID...",
		Args: cli.Arguments(1, math.MaxInt),
		RunE: func(_ *cobra.Command, args []string) error { return x.promote(args) },
	}
	promote.Flags().StringVar(&x.as, "as", "test", "`WHAT` it becomes: test or corpus")
	promote.Flags().StringVar(&x.to, "to", "", "`FILE` of the corpus; it is written to its end")
	cli.RulesFlag(promote, env, &x.rules)
	cli.PolicyFlag(promote, env, &x.policy)
	cli.Modes(promote, "as=corpus: to state", ": as state rules policy to")
	c.AddCommand(list, show, promote)
	return c
}

// folder returns the folder of the segments.
func (x *captured) folder() (string, error) {
	if x.state == "" {
		return "", errors.New("capture: no folder; give --state DIR, or set " + config.Prefix + "STATE")
	}
	dir := filepath.Join(x.state, captureFolder)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("capture: %s: there is no such folder: no reply was recorded here", dir)
	}
	return dir, nil
}

func (x *captured) list() error {
	if x.since > 0 {
		x.filter.Since = time.Now().Add(-x.since)
	}
	dir, err := x.folder()
	takes, wrong := x.filter.Compile()
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	p, all, shown := x.env.Printer(x.json), 0, 0
	damaged, err := ReadCaptures(dir, x.filter.Since, func(r *CaptureRecord) bool {
		yes, err := takes(r)
		if all++; yes {
			shown++
			p.Item(r, []cli.Row{{Text: r.Line()}})
		}
		wrong = err
		return p.Err == nil && err == nil
	})
	if err == nil && shown == 0 && !x.json {
		p.Rows([]cli.Row{{Text: fmt.Sprintf("no reply matches, of %d in %s", all, terminal.Printable(dir))}})
	}
	if damaged > 0 {
		fmt.Fprintf(x.env.Err, "%s skipped, since no record stands there\n", terminal.Count(damaged, "line"))
	}
	return errors.Join(err, wrong, p.Flush())
}

func (x *captured) show(id string) error {
	list, err := x.find(id)
	if err != nil {
		return err
	}
	var out cli.Rows
	for _, f := range list[0].Fields() {
		out.Field(f.Name, cli.Clipped(f.Value), "")
	}
	return x.env.Printer(x.json).Document(list[0], out.List)
}

// find returns the records with these ids.
func (x *captured) find(ids ...string) (list []*CaptureRecord, err error) {
	dir, err := x.folder()
	for i := 0; i < len(ids) && err == nil; i++ {
		var r *CaptureRecord
		r, err = findCapture(dir, ids[i])
		list = append(list, r)
	}
	return list, err
}

func (x *captured) promote(ids []string) error {
	switch {
	case x.as != "test" && x.as != "corpus":
		return fmt.Errorf("--as is test or corpus, not %q", x.as)
	case (x.as == "corpus") != (x.to != ""):
		return errors.New("--as corpus wants --to FILE, and --as test takes --rules DIR in its place")
	}
	list, err := x.find(ids...)
	if err != nil {
		return err
	}
	if x.as == "corpus" {
		n, err := appendCases(x.to, list)
		if err != nil {
			return err
		}
		fmt.Fprintf(x.env.Out, "wrote %d to %s, where %d stood already; look at expect: it says what was read, right or wrong\n", n, x.to, len(list)-n)
		return nil
	}
	src, err := cli.RuleSource(x.rules, x.policy, x.env)
	if err != nil {
		return err
	}
	set, err := cli.LoadFrom(src, x.env)
	if err != nil {
		return err
	}
	var tests []ruleset.Recording
	for _, r := range list {
		t, err := r.Test(set, x.env.World(src.Dir, src.Policy))
		if err != nil {
			return err
		}
		tests = append(tests, t)
	}
	return cli.AddTests(src, x.env, tests...)
}

// captureFilter selects records. Empty fields match everything.
type captureFilter struct {
	Since time.Time
	Arm   string   // EXPERIMENT, or EXPERIMENT/ARM
	Is    []string // words that must all match
	Where string   // a condition, as capture.when has it in experiments.yaml
}

// marks are the properties that list shows and can filter by.
var marks = []struct {
	word string
	is   func(*CaptureRecord) bool
}{
	{"refused", func(r *CaptureRecord) bool { return len(r.Reading.Refused) > 0 }},
	{"repaired", func(r *CaptureRecord) bool {
		return slices.ContainsFunc(r.Reading.Calls, func(c Call) bool { return len(c.Repairs) > 0 })
	}},
	{"differs", func(r *CaptureRecord) bool { return r.Shadow != nil }},
	{"again", func(r *CaptureRecord) bool { return r.Outcome.Turns > 1 }},
	{"fault", func(r *CaptureRecord) bool { return r.Outcome.Fault != "" }},
	{"calls", func(r *CaptureRecord) bool { return len(r.Reading.Calls) > 0 }},
	{"empty", (*CaptureRecord).empty},
	{"masked", func(r *CaptureRecord) bool { return r.Masked > 0 }},
	{"cut", func(r *CaptureRecord) bool { return len(r.Cut) > 0 }},
}

// captureMarks returns the words for Filter.Is.
func captureMarks() (words []string) {
	for _, m := range marks {
		words = append(words, m.word)
	}
	return words
}

// Compile returns a predicate for records. The error describes a mistake in the filter.
func (f *captureFilter) Compile() (func(*CaptureRecord) (bool, error), error) {
	for _, word := range f.Is {
		if !slices.Contains(captureMarks(), word) {
			return nil, fmt.Errorf("--is is one of %s, not %q", strings.Join(captureMarks(), ", "), word)
		}
	}
	if f.Where == "" {
		return func(r *CaptureRecord) (bool, error) { return f.takes(r), nil }, nil
	}
	when, problem := cond.Predicate[Captured](rulefile.Text{Value: f.Where,
		At: rulefile.LineOf("--where", f.Where, 1)}, nil)
	if problem != nil {
		if slices.Contains(captureMarks(), f.Where) {
			problem.Hint = "as a word: --is " + f.Where
		}
		return nil, rulefile.Problems{*problem}
	}
	return func(r *CaptureRecord) (bool, error) {
		if !f.takes(r) {
			return false, nil
		}
		return when(r.seen())
	}, nil
}

func (f *captureFilter) takes(r *CaptureRecord) bool {
	if r.At.Before(f.Since) || f.Arm != "" && !slices.ContainsFunc(r.Arms, func(arm string) bool {
		return arm == f.Arm || strings.HasPrefix(arm, f.Arm+"/")
	}) {
		return false
	}
	for _, m := range marks {
		if slices.Contains(f.Is, m.word) && !m.is(r) {
			return false
		}
	}
	return true
}

// maxSeen is how much of a reply a condition sees, in bytes.
const maxSeen = 64 << 10

// seen returns the environment of a condition, as it was when the reply was served, except for masked or
// cut texts.
func (r *CaptureRecord) seen() *Captured {
	repaired := 0
	for _, c := range r.Reading.Calls {
		repaired += len(c.Repairs)
	}
	return &Captured{
		Asking: Asking{Model: r.Model, Agent: r.Agent, Session: r.Session, Channel: r.Channel,
			User: r.Caller, Tools: len(r.Tools)},
		Arms: r.Arms, Calls: len(r.Reading.Calls), Refused: len(r.Reading.Refused), Repaired: repaired,
		Empty: r.empty(), Cut: r.Reading.Early || r.Reading.Finish == "length", Differs: r.Shadow != nil,
		Text: scan.Head(r.Message.Content, maxSeen),
	}
}

func (r *CaptureRecord) empty() bool {
	return len(r.Reading.Calls) == 0 && strings.TrimSpace(r.content()) == ""
}

// content returns what the user read.
func (r *CaptureRecord) content() string {
	if r.Reading.Content != nil {
		return *r.Reading.Content
	}
	return r.Message.Content
}

// Line describes a record on one line, safe for a terminal.
func (r *CaptureRecord) Line() string {
	var what []string
	for _, m := range marks {
		if m.word != "calls" && m.is(r) {
			what = append(what, m.word)
		}
	}
	text := strings.Join(strings.Fields(brief(r.content(), 60)), " ")
	if len(r.Reading.Calls) > 0 {
		c := r.Reading.Calls[0]
		text = c.Name + " " + brief(string(c.Arguments), 60)
		if n := len(r.Reading.Calls); n > 1 {
			text += fmt.Sprintf("  and %d more", n-1)
		}
	}
	return terminal.Printable(fmt.Sprintf("%s  %s  %-14s  %-16s  %-18s  %s", r.ID,
		r.At.Local().Format(time.DateTime), r.Model,
		cmp.Or(strings.Join(r.Arms, ","), "-"), cmp.Or(strings.Join(what, ","), "-"), text))
}

// brief returns the beginning of a text.
func brief(s string, most int) string {
	if cut := scan.Head(s, most); cut != s {
		return cut + "…"
	}
	return s
}

// field is a named part of a record.
type field struct{ Name, Value string }

// Fields returns the parts of a record, including empty ones. The caller makes them printable.
func (r *CaptureRecord) Fields() []field {
	out := []field{
		{"id", r.ID}, {"at", r.At.Local().Format(time.RFC3339Nano)}, {"model", r.Model}, {"server", r.Server}, {"agent", r.Agent}, {"channel", r.Channel}, {"caller", r.Caller}, {"session", r.Session},
		{"arms", strings.Join(r.Arms, ", ")}, {"rules", r.Rules}, {"style", r.Style}, {"profile", r.Profile},
		{"said", r.Message.Content}, {"thought", r.Message.Reasoning},
	}
	for _, c := range r.Message.Calls {
		out = append(out, field{"called", c.Function.Name + " " + c.Function.Arguments})
	}
	out = append(out, field{"finish", r.Finish})
	out = append(out, r.Reading.fields("read as")...)
	if r.Shadow != nil {
		out = append(out, field{"shadow", r.Shadow.Arm})
		out = append(out, r.Shadow.fields("would read")...)
	}
	o := r.Outcome
	out = append(out, field{"outcome",
		fmt.Sprintf("%d turns, %d tokens, %.0f ms to the first, %.0f ms in all", o.Turns, o.Tokens, o.First,
			o.All)}, field{"fault", o.Fault})
	if r.Masked > 0 {
		out = append(out, field{"masked", fmt.Sprintf("%d secrets", r.Masked)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Cut)) {
		out = append(out, field{"cut", fmt.Sprintf("%s, of %d", name, r.Cut[name])})
	}
	return out
}

func (m *Made) fields(name string) (out []field) {
	for _, c := range m.Calls {
		text := c.Name + " " + string(c.Arguments)
		if c.Strategy != "" {
			text += fmt.Sprintf("  (%s %.2f)", c.Strategy, c.Confidence)
		}
		if len(c.Repairs) > 0 {
			text += "  " + strings.Join(c.Repairs, " ")
		}
		out = append(out, field{name, text})
	}
	if m.Content != nil {
		out = append(out, field{"shown", *m.Content})
	}
	for _, f := range m.Refused {
		out = append(out, field{"refused", f.Code + ": " + f.Name + ": " + f.Why})
	}
	return out
}
