package console

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxText is the maximal size of a drafted file in bytes, far more than people write.
const maxText = 512 << 10

// Rules are the rules in force, and compile others together with the built-in and the locked ones.
type Rules interface {
	Set() *ruleset.Set
	Merged(some map[string]*string) rulefile.Files
	Try(own rulefile.Files) (*ruleset.Set, rulefile.Problems, error)
	Test(own rulefile.Files) (*ruleset.Report, rulefile.Problems, error)
}

// Draft is an edited text of a rule file.
type Draft struct{ File, Text string }

// errNoFile says that the folder has no such file.
var errNoFile = errors.New("the rules in force have no such file")

// files returns the operator's files with the draft, and whether it changes any.
func (d *Draft) files(rules Rules) (own rulefile.Files, changed bool, err error) {
	now, ok := rules.Merged(nil)[d.File]
	switch {
	case !ok:
		return nil, false, fmt.Errorf("%w: %q", errNoFile, d.File)
	case len(d.Text) > maxText:
		return nil, false, fmt.Errorf("%s would have %d bytes, and %d is the most", d.File, len(d.Text),
			maxText)
	}
	return rules.Merged(map[string]*string{d.File: &d.Text}), now != d.Text, nil
}

// Checked is the result of compiling a draft.
type Checked struct {
	Set      *ruleset.Set      // compiled; nil: it does not load
	Problems rulefile.Problems // of all files; warnings if it loads
	Changed  bool              // the text differs from the one in force
	Failing  bool              // only tests fail: there is a Set, but it cannot be published
}

// Check compiles the draft as the command check would. If only tests fail, the result still has a Set.
func (d *Draft) Check(rules Rules) (Checked, error) {
	own, changed, err := d.files(rules)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Changed: changed}
	if !changed {
		out.Set = rules.Set()
		return out, nil
	}
	var problems rulefile.Problems
	switch out.Set, out.Problems, err = rules.Try(own); {
	case err == nil:
		return out, nil
	case !errors.As(err, &problems):
		return out, err
	}
	out.Problems = problems
	without, failing := withoutTests(own), false
	for i := range problems {
		if p := &problems[i]; !p.Warning {
			if !strings.HasPrefix(p.File, rulefile.TestFolder+"/") {
				return out, nil
			}
			failing = true
		}
	}
	if set, _, err := rules.Try(without); err == nil {
		out.Set, out.Failing = set, failing
	}
	return out, nil
}

func withoutTests(own rulefile.Files) rulefile.Files {
	out := rulefile.Files{}
	for name, text := range own {
		if !strings.HasPrefix(name, rulefile.TestFolder+"/") {
			out[name] = text
		}
	}
	return out
}

// Test runs the tests of the folder with the draft. The report is nil if the rules do not load; then there
// are problems.
func (d *Draft) Test(rules Rules) (*ruleset.Report, rulefile.Problems, error) {
	own, _, err := d.files(rules)
	if err != nil {
		return nil, nil, err
	}
	return rules.Test(own)
}

// limited runs do within the admin API's limit of drafts.
func (c *Console) limited(r *http.Request, changes bool, do func() error) error {
	return refusedBy(c.API.Drafts.Work(r.Context(), personOf(r), changes, do), "This draft was not read")
}

// personOf identifies who tries a draft: by session, or else by address.
func personOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		return keyOf(cookie.Value)
	}
	return web.Address(r)
}

// draftFor returns the text with which a draft begins: masked for a viewer who may not publish.
func draftFor(v viewer, text string) string {
	if v.Role < web.Admin {
		text, _ = secrets.Mask(text)
	}
	return text
}

// unmaskLines puts the lines of the rule file back where a masked line of the draft was not changed: a mask
// in a condition would be a mistake.
func unmaskLines(text, draft string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	masks, ok := masksOf(text)
	if !ok || len(masks) == 0 {
		return draft
	}
	lines := map[string]string{}
	for from := 0; from < len(text); {
		to := lineEnd(text, from)
		for _, m := range masks {
			if m.from >= from && m.from < to && m.to > to {
				to = lineEnd(text, m.to) // it goes over several lines
			}
		}
		lines[maskPiece(text, from, to, masks)] = text[from:to]
		from = to
	}
	var out strings.Builder
	for line := range strings.Lines(draft) {
		if own, ok := lines[line]; ok {
			line = own
		}
		out.WriteString(line)
	}
	return out.String()
}

// lineEnd returns the end of the line at an offset.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// sameLines reports whether two texts differ at most in what a browser changes.
func sameLines(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// difference is one aspect in which two readings of a reply differ.
type difference struct{ What, Before, After string }

// maxListed is how many calls are compared one by one; a reply may hold thousands.
const maxListed = 20

// differences compares two readings, calls first. Without any, the caller sees the same, found in the same
// way.
func differences(before, after *replay.Shown) (out []difference) {
	add := func(what, a, b string) {
		if a != b {
			out = append(out, difference{what, cmp.Or(a, "nothing"), cmp.Or(b, "nothing")})
		}
	}
	a, b := before.Tree.Calls, after.Tree.Calls
	if len(a) != len(b) {
		add("calls", fmt.Sprint(len(a)), fmt.Sprint(len(b)))
	}
	for i := range min(maxListed, max(len(a), len(b))) {
		was, is := callAt(a, i), callAt(b, i)
		what := fmt.Sprintf("call %d", i+1)
		if was.Name != is.Name || !tools.SameJSON(was.Arguments, is.Arguments) {
			add(what, words(was), words(is))
		} else if was.Strategy != is.Strategy {
			add(what+" is found by", was.Strategy, is.Strategy)
		}
	}
	for i := range min(maxListed, max(len(before.Made.Refused), len(after.Made.Refused))) {
		add("refused", at(before.Made.Refused, i), at(after.Made.Refused, i))
	}
	add("text", before.Made.Content, after.Made.Content)
	add("reasoning", before.Made.Reasoning, after.Made.Reasoning)
	add("finish_reason", before.Made.Finish, after.Made.Finish)
	for i := range min(maxListed, len(before.Tree.Policy), len(after.Tree.Policy)) {
		was, is := &before.Tree.Policy[i], &after.Tree.Policy[i]
		add("policy of "+is.Tool, ruling(string(was.Effect), was.Rule), ruling(string(is.Effect), is.Rule))
	}
	if len(out) == 0 && !before.Made.Same(&after.Made) {
		add("more calls", "others", "other ones") // beyond those that are listed
	}
	return out
}

func callAt(list []replay.ExplainedCall, i int) (c replay.ExplainedCall) {
	if i < len(list) {
		c = list[i]
	}
	return c
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

func words(c replay.ExplainedCall) string {
	return strings.TrimSpace(c.Name + " " + string(c.Arguments))
}

// ruling describes a decision.
func ruling(effect, rule string) string {
	return cmp.Or(effect, "allow") + " by " + cmp.Or(rule, "default")
}

// RulingDifferences compares two answers of the policy to one question.
func RulingDifferences(before, after *guard.Explanation) (out []difference) {
	was := ruling(string(before.Decision.Effect), before.Decision.Rule)
	is := ruling(string(after.Decision.Effect), after.Decision.Rule)
	if was != is {
		out = append(out, difference{"policy", was, is})
	}
	if a, b := before.Decision.Why, after.Decision.Why; a != b {
		out = append(out, difference{"why", cmp.Or(a, "nothing"), cmp.Or(b, "nothing")})
	}
	return out
}

// Line is a line of a diff. Its sign is '+', '-', ' ', or '@' where lines are left out.
type Line struct {
	Sign string
	Text string
}

// Diff compares two texts as diff -u does. It is empty if they are the same.
func Diff(before, after string) (out []Line) {
	doc := diff.Diff("before", []byte(withNewline(before)), "after", []byte(withNewline(after)))
	for line := range bytes.Lines(doc) {
		text := strings.TrimSuffix(string(line), "\n")
		switch {
		case len(out) == 0 && !strings.HasPrefix(text, "@@"):
			continue // the names of the files
		case text == "":
			out = append(out, Line{Sign: " "})
		default:
			out = append(out, Line{text[:1], text[1:]})
		}
	}
	return out
}

// withNewline adds a missing end of the last line, which people do not count as a difference.
func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// aliasFile is the rule file with other names of tools.
const aliasFile = "aliases.yaml"

// Unnamed returns the names in a reply that no offered tool has, without duplicates, in their normalized
// form.
func Unnamed(s *replay.Shown) (out []string) {
	for i := range s.Tree.Refused {
		f := &s.Tree.Refused[i]
		if f.Code == tools.NotOffered && f.Name != "" && len(f.Name) <= maxAlias &&
			!slices.Contains(out, f.Name) && len(out) < maxListed {
			out = append(out, f.Name)
		}
	}
	return out
}

// maxAlias is the maximal length of a name that is offered as an alias, in bytes.
const maxAlias = 64

// Alias adds a name of a tool to the text of aliases.yaml, and returns the changed line, counted from 1.
// The line is 0 if the text has no list of tools. Check reports whether the text then loads.
func Alias(text, tool, name string) (edited string, line int) {
	return rulefile.AddToList(text, "tools", tool, name)
}
