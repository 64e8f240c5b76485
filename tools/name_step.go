package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// all returns every offered tool for which same holds.
func (c *Catalog) all(same func(name string) bool) hits {
	var found hits
	for i := range c.offered {
		if same(c.offered[i].Name) && c.isFirst(i) {
			found.tools = append(found.tools, &c.offered[i])
		}
	}
	return found
}

// isFirst reports whether no earlier tool has the name of tool i.
func (c *Catalog) isFirst(i int) bool { return c.exact(c.offered[i].Name) == &c.offered[i] }

// byName finds the tool of exactly this name, or else what byKey finds.
func (c *Catalog) byName(name string) hits {
	if t := c.exact(name); t != nil {
		return hits{tools: []*Tool{t}}
	}
	return c.byKey(name)
}

func (c *Catalog) byKey(name string) hits {
	want := key(name)
	return c.all(func(offered string) bool { return want != "" && key(offered) == want })
}

func (c *Catalog) byBareKey(name string) hits {
	want := bareKey(name)
	return c.all(func(offered string) bool { return want != "" && bareKey(offered) == want })
}

// byDeferred finds a tool that is not offered but that "tool_call" reaches.
func (c *Catalog) byDeferred(name string) hits {
	via := c.exact(deferredVia)
	// another tool of this name
	if via == nil || !c.Takes(deferredVia, "id") || !c.Takes(deferredVia, "args") {
		return hits{}
	}
	var found hits
	for _, d := range c.deferred {
		if d == name {
			return hits{tools: []*Tool{via}, deferred: d}
		}
		if key(d) == key(name) && d != found.deferred {
			found.tools, found.deferred = append(found.tools, via), d
		}
	}
	return found
}

// byAlias finds the first tool of the name's group that is offered, or that "tool_call" reaches.
func (c *Catalog) byAlias(name string) hits {
	want := key(name)
	for _, names := range []func(*Group) []Word{func(g *Group) []Word { return g.Names },
		func(g *Group) []Word { return g.Weak }} {
		for i := range c.rules.Groups {
			g := &c.rules.Groups[i]
			if at := index(names(g), want); at >= 0 {
				if found := c.ofGroup(i, name, names(g)[at]); len(found.tools) > 0 {
					return found
				}
			}
		}
	}
	return hits{}
}

// ofGroup finds the first tool of a group that a name may mean, which stands there as written.
func (c *Catalog) ofGroup(group int, name string, written Word) hits {
	for n, other := range c.rules.Groups[group].Names {
		if other == written || !c.rules.stands(name, other.Text, group) {
			continue
		}
		for _, found := range []hits{c.byName(other.Text), c.byDeferred(other.Text)} {
			if len(found.tools) > 0 {
				found.rule = written.Place
				// the place of the group itself
				if first := c.rules.Groups[group].Names[0]; first == written && n > 0 {
					found.rule = other.Place
				}
				return found
			}
		}
	}
	return hits{}
}

// byNamespace finds a tool behind an invented namespace ("repo_browser.read_file"
// for read_file), or in a namespace that was left out ("move_file" for
// filesystem.move_file; "files.move" for agency_files_move). Words in front of a namespace say something ("no
// functions.exec"): behind them stands no tool that changes anything.
func (c *Catalog) byNamespace(name string) hits {
	for _, tail := range segments(name) {
		if found := c.byName(tail); len(found.tools) > 0 {
			if strings.Contains(strings.TrimSuffix(name, tail), " ") &&
				c.rules.Class(found.tools[0].Name) != Read {
				break
			}
			return found
		}
	}
	want, dotted := key(name), strings.Contains(name, ".")
	end := "_" + strings.ToLower(strings.ReplaceAll(name, ".", "_"))
	return c.all(func(offered string) bool {
		return want != "" && (slices.ContainsFunc(segments(offered),
			func(tail string) bool { return key(tail) == want }) ||
			dotted && strings.HasSuffix(strings.ToLower(offered), end))
	})
}

// byGlued finds the tool of a name to which a content type or channel is glued, or several:
// "shelljson", "read_filecommentaryjson". The longest glued word is taken first.
func (c *Catalog) byGlued(name string) hits { return c.unglued(name, 3) }

// unglued is byGlued for so many words.
func (c *Catalog) unglued(name string, words int) hits {
	for _, g := range c.rules.Glued {
		short := len(name) - len(g.Text)
		if g.Text == "" || short <= 0 || !strings.EqualFold(name[short:], g.Text) {
			continue
		}
		stem := strings.TrimRight(name[:short], " _-.")
		for _, s := range plain {
			if found := s.find(c, stem); len(found.tools) > 0 {
				found.rule = cmp.Or(found.rule, g.Place)
				return found
			}
		}
		if words > 1 {
			if found := c.unglued(stem, words-1); len(found.tools) > 0 {
				return found
			}
		}
	}
	return hits{}
}

// byScript finds the tool of a name that goes on in letters of another script, but not in words.
func (c *Catalog) byScript(name string) hits {
	n := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	if n <= 0 || strings.Contains(name, " ") {
		return hits{}
	}
	return c.byName(strings.TrimRight(name[:n], "_-."))
}

// byNearness finds the one tool that only reads and whose name differs by one slip
// of the pen: a letter too many, missing, wrong, or two exchanged. A word that
// writes or executes is no slip ("set_user" is not get_user), a digit is none
// either, and any other tool within two slips makes it a guess.
func (c *Catalog) byNearness(name string) hits {
	const shortest, margin = 5, 2
	want := []rune(key(name))
	if len(want) < shortest || c.rules.harmful(name) {
		return hits{}
	}
	near := c.all(func(offered string) bool { return within(want, []rune(key(offered)), margin) })
	if len(near.tools) != 1 {
		return hits{}
	}
	offered := near.tools[0].Name
	if !within(want, []rune(key(offered)), 1) || digits(name) != digits(offered) ||
		c.rules.Class(offered) != Read {
		return hits{}
	}
	return near
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// within reports whether a becomes b by at most most edits: insertions, deletions,
// substitutions, and exchanges of neighbours (optimal string alignment).
func within(a, b []rune, most int) bool {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > most+1 {
			return false
		}
		older, old, row = old, row, older
	}
	return old[len(b)] <= most
}
