package ruleset

import (
	"fmt"
	"slices"
	"strings"
)

// lintServers warns about dialects that no answer of a server leads to, and no model
// asks for.
func (l *loader) lintServers() {
	for i, s := range l.set.Servers {
		named := slices.ContainsFunc(l.set.Models, func(m Model) bool { return m.Server.Value == s.ID.Value })
		if len(s.Detect) > 0 && !named {
			l.lintProbes(s, l.set.Servers[:i])
		}
	}
}

// lintProbes warns about a server all of whose probes hit an earlier one first.
func (l *loader) lintProbes(s Server, earlier []Server) {
	by := ""
	for _, p := range s.Detect {
		i := slices.IndexFunc(earlier, func(e Server) bool {
			return slices.ContainsFunc(e.Detect, func(q Probe) bool { return q.covers(p) })
		})
		if i < 0 {
			return
		}
		by = earlier[i].ID.Value + " " + seen(earlier[i].ID.At, s.ID.At)
	}
	l.warn(s.ID.All(), codeUnreachable,
		fmt.Sprintf("%s is never recognised: %s comes first and fits the same answers", s.ID.Value, by),
		"put it in front, or tell the two apart by another probe")
}

// covers reports whether every answer that is a hit for p is one for q, too.
func (q Probe) covers(p Probe) bool {
	if q.Path != p.Path {
		return false
	}
	first, second := squeezed(q.Contains), squeezed(p.Contains)
	if first == "" || second == "" {
		return first == second // any JSON object, which a text need not stand in
	}
	return strings.Contains(second, first)
}

// squeezed is s without white space, as answers are compared.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
