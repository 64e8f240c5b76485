package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// all returns the offered tools whose names satisfy same.
func (c *Catalog) all(same func(name string) bool) nameMatches {
	var found nameMatches
	for i := range c.offered {
		if same(c.offered[i].Name) && c.isFirst(i) {
			found.tools = append(found.tools, &c.offered[i])
		}
	}
	return found
}

// isFirst reports whether tool i is the first of its name.
func (c *Catalog) isFirst(i int) bool { return c.exact(c.offered[i].Name) == &c.offered[i] }

// byName finds the tool of exactly this name, else by its key.
func (c *Catalog) byName(name string) nameMatches {
	if t := c.exact(name); t != nil {
		return nameMatches{tools: []*Tool{t}}
	}
	return c.byKey(name)
}

func (c *Catalog) byKey(name string) nameMatches {
	want := key(name)
	return c.all(func(offered string) bool { return want != "" && key(offered) == want })
}

func (c *Catalog) byBareKey(name string) nameMatches {
	want := bareKey(name)
	return c.all(func(offered string) bool { return want != "" && bareKey(offered) == want })
}

// byDeferred finds a hidden tool that "tool_call" reaches.
func (c *Catalog) byDeferred(name string) nameMatches {
	via := c.exact(deferredVia)
	// another tool of this name
	if via == nil || !c.Takes(deferredVia, "id") || !c.Takes(deferredVia, "args") {
		return nameMatches{}
	}
	var found nameMatches
	for _, d := range c.deferred {
		if d == name {
			return nameMatches{tools: []*Tool{via}, deferred: d}
		}
		if key(d) == key(name) && d != found.deferred {
			found.tools, found.deferred = append(found.tools, via), d
		}
	}
	return found
}

// byAlias finds the first tool of the name's group that is offered or deferred.
func (c *Catalog) byAlias(name string) nameMatches {
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
	return nameMatches{}
}

// ofGroup finds the first tool of a group that a name may mean; written is the name's entry.
func (c *Catalog) ofGroup(group int, name string, written Word) nameMatches {
	for n, other := range c.rules.Groups[group].Names {
		if other == written || !c.rules.mayMean(name, other.Text, group) {
			continue
		}
		for _, found := range []nameMatches{c.byName(other.Text), c.byDeferred(other.Text)} {
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
	return nameMatches{}
}

// byNamespace finds a tool behind an invented namespace ("repo_browser.read_file" for read_file), or in
// one that was left out ("move_file" for filesystem.move_file; "files.move" for agency_files_move).
// Words before a namespace have a meaning ("no functions.exec"): then only tools that read are found.
func (c *Catalog) byNamespace(name string) nameMatches {
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

// byGlued finds a tool with content types or channels glued to its name: "shelljson",
// "read_filecommentaryjson". The longest glued word is removed first.
func (c *Catalog) byGlued(name string) nameMatches { return c.unglued(name, 3) }

// unglued is byGlued for at most so many words.
func (c *Catalog) unglued(name string, words int) nameMatches {
	for _, g := range c.rules.Glued {
		short := len(name) - len(g.Text)
		if g.Text == "" || short <= 0 || !strings.EqualFold(name[short:], g.Text) {
			continue
		}
		stem := strings.TrimRight(name[:short], " _-.")
		for _, s := range plainSteps {
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
	return nameMatches{}
}

// byScript finds a tool whose name continues in letters of another script, but not in words.
func (c *Catalog) byScript(name string) nameMatches {
	n := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	if n <= 0 || strings.Contains(name, " ") {
		return nameMatches{}
	}
	return c.byName(strings.TrimRight(name[:n], "_-."))
}

// byNearness finds the one tool that reads and whose name differs by one typo: a letter added, missing,
// wrong, or two exchanged. A word that writes or executes is no typo ("set_user" is not get_user), nor
// is a digit, and any other tool within two typos makes it ambiguous.
func (c *Catalog) byNearness(name string) nameMatches {
	const shortest, margin = 5, 2
	want := []rune(key(name))
	if len(want) < shortest || c.rules.harmful(name) {
		return nameMatches{}
	}
	near := c.all(func(offered string) bool { return within(want, []rune(key(offered)), margin) })
	if len(near.tools) != 1 {
		return nameMatches{}
	}
	offered := near.tools[0].Name
	if !within(want, []rune(key(offered)), 1) || digits(name) != digits(offered) ||
		c.rules.Class(offered) != Read {
		return nameMatches{}
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

// within reports whether a becomes b by at most most edits: insertions, deletions, substitutions, and
// transpositions (optimal string alignment).
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
