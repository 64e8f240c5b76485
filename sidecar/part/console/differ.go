package console

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
