package ruleset

import (
	"fmt"
	"slices"
	"strings"
)

// lintServers warns about dialects that no answer of a server selects and no model names.
func (l *loader) lintServers() {
	for i, s := range l.set.Servers {
		named := slices.ContainsFunc(l.set.Models, func(m Model) bool { return m.Server.Value == s.ID.Value })
		if len(s.Detect) > 0 && !named {
			l.lintProbes(s, l.set.Servers[:i])
		}
	}
}

// lintProbes warns about a server all of whose probes match an earlier one first.
func (l *loader) lintProbes(s Server, earlier []Server) {
	by := ""
	for _, p := range s.Detect {
		i := slices.IndexFunc(earlier, func(e Server) bool {
			return slices.ContainsFunc(e.Detect, func(q Probe) bool { return q.covers(p) })
		})
		if i < 0 {
			return
		}
		by = earlier[i].ID.Value + " " + relativePlace(earlier[i].ID.At, s.ID.At)
	}
	l.warn(s.ID.All(), codeUnreachable,
		fmt.Sprintf("%s is never recognised: %s comes first and fits the same answers", s.ID.Value, by),
		"put it in front, or tell the two apart by another probe")
}

// covers reports whether every answer that matches p matches q, too.
func (q Probe) covers(p Probe) bool {
	if q.Path != p.Path {
		return false
	}
	first, second := withoutSpace(q.Contains), withoutSpace(p.Contains)
	if first == "" || second == "" {
		return first == second // any JSON object, which a text need not stand in
	}
	return strings.Contains(second, first)
}

// withoutSpace removes white space, as for the comparison of answers.
func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }
