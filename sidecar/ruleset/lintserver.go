package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// lintServers warns about dialects that no answer of a server leads to, and no model
// asks for.
func (l *loader) lintServers() {
	servers := doc[serverFile](l, serversFile).Servers
	for i, r := range servers {
		named := slices.ContainsFunc(l.set.Models, func(m Model) bool { return m.Server == r.ID.Value })
		if len(r.Detect) > 0 && !named {
			l.lintProbes(r, servers[:i])
		}
	}
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
