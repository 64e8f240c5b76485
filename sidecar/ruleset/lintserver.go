package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// lintServers warns about dialects that no answer of a server leads to, and about
// patterns that stand behind the same pattern.
func (l *loader) lintServers() {
	f := doc[serverFile](l, serversFile)
	l.lintErrors(f.Common)
	for i, r := range f.Servers {
		l.lintErrors(r.Errors)
		if len(r.Detect) > 0 && !l.named(r.ID.Value) {
			l.lintProbes(r, f.Servers[:i])
		}
	}
}

// named reports whether a model asks for a dialect by its id.
func (l *loader) named(server string) bool {
	return slices.ContainsFunc(l.set.Models, func(m Model) bool { return m.Server == server })
}

// lintProbes warns about a server all of whose probes hit an earlier one first.
func (l *loader) lintProbes(r serverRule, earlier []serverRule) {
	by := ""
	for _, p := range r.Detect {
		i := slices.IndexFunc(earlier, func(e serverRule) bool {
			return slices.ContainsFunc(e.Detect, func(q probeRule) bool { return q.covers(p) })
		})
		if i < 0 {
			return
		}
		by = fmt.Sprintf("%s (line %d)", earlier[i].ID.Value, earlier[i].ID.At.Line())
	}
	l.warn(r.ID.All(), codeUnreachable, fmt.Sprintf("no server is recognised as %s: %s comes first and fits the same answers", r.ID.Value, by),
		"put it in front, or tell the two apart by another probe")
}

// covers reports whether every answer that is a hit for p is one for q, too.
func (q probeRule) covers(p probeRule) bool {
	if q.Path.Value != p.Path.Value {
		return false
	}
	first, second := squeezed(q.Contains.Value), squeezed(p.Contains.Value)
	if first == "" || second == "" {
		return first == second // any JSON object, which a text need not stand in
	}
	return strings.Contains(second, first)
}

// squeezed is s without white space, as answers are compared.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// lintErrors warns about patterns that stand behind the same pattern.
func (l *loader) lintErrors(r errorRules) {
	var hints, fields, finds []rulefile.Text
	for _, h := range r.Hints {
		hints = append(hints, h.Find)
	}
	for _, c := range r.Recover {
		if c.Find != nil {
			finds = append(finds, *c.Find)
		} else {
			fields = append(fields, c.Field)
		}
	}
	for _, list := range [][]rulefile.Text{finders(r.Overflow), finders(r.OutputTooLarge), finders(r.Retry), hints, fields, finds} {
		first := map[string]int{}
		for _, t := range list {
			if line, twice := first[t.Value]; twice {
				l.warn(t.All(), codeUnreachable, "the same stands in front of this, and decides", fmt.Sprintf("it stands in line %d; delete one", line))
				continue
			}
			first[t.Value] = t.At.Line()
		}
	}
}

func finders(rules []errorRule) []rulefile.Text {
	out := make([]rulefile.Text, len(rules))
	for i, r := range rules {
		out[i] = r.Find
	}
	return out
}
