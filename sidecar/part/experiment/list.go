package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

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
