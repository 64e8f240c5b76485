package ruleset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// lintStrategies warns about strategies that never read anything: something else
// takes all their literals first, or their condition cannot hold.
func (l *loader) lintStrategies() {
	f := doc[strategyFile](l, strategiesFile)
	profiles := f.enabled()
	for _, r := range f.Strategies {
		if r.When != nil {
			l.lintCondition(*r.When, l.domains(r))
		}
		var on [][]strategyRule
		for _, list := range profiles {
			if slices.ContainsFunc(list, func(o strategyRule) bool { return o.ID.Value == r.ID.Value }) {
				on = append(on, list)
			}
		}
		if len(on) > 0 { // else it was switched off on purpose
			l.lintLiterals(r, on)
		}
	}
}

// enabled gives the strategies of each profile, highest priority first.
func (f *strategyFile) enabled() (out [][]strategyRule) {
	profiles := f.Profiles
	if !slices.ContainsFunc(profiles, func(p rulefile.Pair[profileRule]) bool { return p.Key.Value == DefaultProfile }) {
		profiles = append([]rulefile.Pair[profileRule]{{}}, profiles...)
	}
	for _, p := range profiles {
		var list []strategyRule
		for _, r := range f.Strategies {
			has := func(ids []rulefile.Text) bool { return slices.Contains(values(ids), r.ID.Value) }
			on := (r.Enabled == nil || *r.Enabled) && len(p.Value.Only) == 0
			if (on || has(p.Value.Only) || has(p.Value.Enable)) && !has(p.Value.Disable) {
				list = append(list, r)
			}
		}
		slices.SortFunc(list, func(a, b strategyRule) int { return cmp.Compare(b.Priority.Value, a.Priority.Value) })
		out = append(out, list)
	}
	return out
}

// lintLiterals warns about opening literals that never open their block, since
// something else takes the text first in every profile: a token, a literal that is
// dropped, or another literal of the same strategy. A block of another strategy takes
// nothing for good: what it cannot read, the next one may.
func (l *loader) lintLiterals(r strategyRule, on [][]strategyRule) {
	literals := r.literals()
	if len(literals) == 0 {
		return
	}
	taken := make([]string, len(literals))
	others := 0
	for i := range literals {
		for _, list := range on {
			var other bool
			if taken[i], other = taker(r, i, list); taken[i] == "" {
				break
			} else if other {
				others++
			}
		}
	}
	bracket := slices.ContainsFunc(on, func(list []strategyRule) bool { return r.firstBracket(list) })
	if others == len(on)*len(taken) && !r.ends() && !bracket {
		l.warn(r.ID.All(), codeUnreachable, fmt.Sprintf("%s is never reached: %s", r.ID.Value, taken[0]),
			"give it a higher priority, or literals of its own")
		return
	}
	for i, by := range taken {
		if by != "" {
			l.warn(literals[i].All(), codeShadowed, fmt.Sprintf("%s never opens: %s", literals[i].Value, by), "delete it, or let it come first")
		}
	}
}

// taker says what takes literal i of a strategy in a profile before it can open,
// and whether that is something else than the strategy itself; "" for nothing.
func taker(r strategyRule, i int, list []strategyRule) (by string, other bool) {
	lit := r.literals()[i].Value
	if lit[0] == '`' {
		return "what stands between backticks is code, and is not read", true
	}
	for _, o := range list {
		if o.Kind == string(parse.Harmony) && parse.BeginsWithToken(lit) {
			return o.ID.Value + " takes every Harmony token", true
		}
	}
	lit, _, _ = strings.Cut(lit, parse.ToolName)
	for _, o := range list {
		same := o.ID.Value == r.ID.Value
		if !same && o.Drop == nil {
			continue
		}
		for j, p := range o.literals() {
			if same && j == i {
				return "", false
			}
			if !strings.Contains(p.Value, parse.ToolName) && strings.HasPrefix(foldASCII(lit), foldASCII(p.Value)) {
				return fmt.Sprintf("%s of %s (line %d) comes first", p.Value, o.ID.Value, p.At.Line()), !same
			}
		}
	}
	return "", false
}

// literals are what opens the candidates of a strategy.
func (r *strategyRule) literals() []rulefile.Text {
	switch {
	case r.Block != nil:
		return r.Block.Open
	case r.Pattern != nil:
		return r.Pattern.Open
	case r.Drop != nil:
		return r.Drop.Text
	}
	return nil
}

// ends reports whether a strategy also knows literals that end the turn.
func (r *strategyRule) ends() bool { return r.Block != nil && len(r.Block.Done) > 0 }

// firstBracket reports whether a strategy is the one of a profile that also reads
// [NAME] on a line of its own.
func (r *strategyRule) firstBracket(list []strategyRule) bool {
	i := slices.IndexFunc(list, func(o strategyRule) bool {
		return o.Block != nil && (o.Block.Body == string(parse.BodyNamed) || o.Block.Body == string(parse.BodyPairs))
	})
	return i >= 0 && list[i].ID.Value == r.ID.Value
}

// foldASCII is s in lower case as the reader compares literals.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// domains are the only values that some variables of a strategy's condition have.
// The empty ones are those of explain.
func (l *loader) domains(r strategyRule) map[string][]string {
	out := map[string][]string{"field": {string(parse.Content), string(parse.Reasoning)}}
	switch r.Kind {
	case string(parse.Native):
		out["field"] = []string{"tool_calls"}
	case string(parse.Phrases):
		out["field"] = []string{string(parse.Content)}
	}
	if l.clean(serversFile) {
		out["server"] = append([]string{"", "generic"}, serverIDs(l.set.Servers)...)
	}
	if l.clean(modelsFile) {
		out["model"] = []string{"", "gpt-oss"} // of examples
		for _, m := range l.set.Models {
			if m.ID != "gpt-oss" {
				out["model"] = append(out["model"], m.ID)
			}
		}
	}
	return out
}
