package prompt

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// CompileEdits compiles the rules of the operator and of the locked folder, and reports mistakes to the
// compiler's Report.
func CompileEdits(own, locked EditsFile, c EditsCompiler) Edits {
	var e Edits
	e.requests.own, e.results.own = c.file(own, false)
	e.requests.locked, e.results.locked = c.file(locked, true)
	return e
}

func (c EditsCompiler) file(f EditsFile, locked bool) (
	requests []compiled[requestRule, RequestFacts], results []compiled[resultRule, ResultFacts]) {
	for _, r := range f.Requests {
		one := compiled[requestRule, RequestFacts]{editRule: ruleOf(r.At, r.ID), says: r,
			holds: c.Request(r.When), locked: locked}
		for _, m := range r.Messages {
			one.steps = append(one.steps, c.step(one.editRule, m.Of, m.change))
		}
		c.sampling(r)
		for _, t := range r.Tools {
			if _, err := path.Match(t.Value, ""); err != nil || strings.TrimSpace(t.Value) == "" {
				c.Report(t.All(), rulefile.CodeValue, "this is no name of a tool",
					"a name, or a pattern such as 'mcp_*'")
			}
		}
		if len(r.Tools)+len(r.Messages)+len(r.Set)+len(r.Most) == 0 {
			c.Report(r.ID.All(), rulefile.CodeMissing, r.ID.Value+" edits nothing",
				"it needs one of drop_tools, messages, set, most")
		}
		requests = append(requests, one)
	}
	for _, r := range f.Results {
		one := compiled[resultRule, ResultFacts]{editRule: ruleOf(r.At, r.ID), says: r,
			holds: c.Result(r.When), locked: locked}
		one.steps = []step{c.step(one.editRule, r.ID, r.change)}
		results = append(results, one)
	}
	return requests, results
}

func ruleOf(at rulefile.Place, id rulefile.Text) editRule {
	return editRule{at.String(), at.File(), id.Value}
}

// step compiles one change; at is its name in a mistake.
func (c EditsCompiler) step(rule editRule, at rulefile.Text, ch change) step {
	s := step{change: ch, rule: rule}
	switch {
	case reflect.ValueOf(ch).IsZero():
		c.Report(at.All(), rulefile.CodeMissing, at.Value+" edits nothing",
			"it needs one of drop, replace, chars, note")
	case ch.Drop != "" && (len(ch.Replace) > 0 || ch.Chars > 0):
		c.Report(at.All(), rulefile.CodeValue,
			"what drop leaves out can be neither replaced in nor shortened",
			"leave out drop, or replace and chars")
	case ch.Chars == 0 && (ch.Head > 0 || ch.Hint != ""):
		c.Report(at.All(), rulefile.CodeMissing, "head and hint go with chars",
			"say with chars how much is kept")
	}
	for _, r := range ch.Replace {
		s.finds = append(s.finds, c.Pattern(r.Find))
	}
	return s
}

// sampling checks set and limited parameters.
func (c EditsCompiler) sampling(r requestRule) {
	for _, values := range []map[string]any{r.Set, r.Most} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !slices.Contains(parameters, name) {
				c.Report(r.ID.All(), rulefile.CodeValue,
					fmt.Sprintf("%s sets %s, which is no sampling parameter", r.ID.Value, name),
					rulefile.DidYouMean(name, parameters))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Most)) {
		if !isNumber(r.Most[name]) {
			c.Report(r.ID.All(), rulefile.CodeType, fmt.Sprintf("most of %s must be a number", name), "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Set)) {
		if wrong := unfit(name, r.Set[name]); wrong != "" {
			c.Report(r.ID.All(), rulefile.CodeType, fmt.Sprintf("%s of %s has a value that it cannot have",
				name, r.ID.Value), wrong)
		}
	}
}

// unfit returns what a sampling parameter must be, if the value is not.
func unfit(name string, value any) string {
	_, isText := value.(string)
	switch {
	case name == "stop": // a text, or a list of texts
	case name == "reasoning_effort" && isText:
	case name == "reasoning_effort" || !isNumber(value):
		return "numbers; for reasoning_effort low, medium or high"
	}
	return ""
}

// Unfit returns why a model cannot have a value for a member of its requests, or "". Servers have their
// own members, so any may be set.
func Unfit(name string, value any) string {
	switch {
	case slices.Contains(ours, name):
		return "the caller says it, or the program itself"
	case slices.Contains(parameters, name):
		return unfit(name, value)
	}
	return ""
}

func isNumber(v any) bool {
	return v != nil && reflect.ValueOf(v).CanConvert(reflect.TypeFor[float64]())
}

// matches reports whether the name of a tool matches a valid pattern.
func matches(pattern, name string) bool {
	is, err := path.Match(pattern, name)
	return err == nil && is
}
