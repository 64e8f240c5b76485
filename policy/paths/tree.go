package paths

import (
	_ "embed" // of the names
	"slices"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/wordlist"
)

// tree holds special names, part by part.
type tree struct {
	entry *entry
	sub   map[string]*tree
	heads []prefixTree // prefixes of names, the longest first
}

type prefixTree struct {
	name string
	*tree
}

// entry is the classes of a name: read, and changed.
type entry struct{ read, change string }

func (e *entry) class(op Op) string {
	if op == Write || op == Delete {
		return e.change
	}
	return e.read
}

// names are all special names.
//
//go:embed special.txt
var names string

// lists are all other words and names.
var lists = wordlist.Of(listText)

//go:embed lists.txt
var listText string

// The tables of names, parsed on first use: most starts of the program judge no path.
var (
	absolute     = sync.OnceValue(func() *tree { return parseTree("absolute") })
	anywhere     = sync.OnceValue(func() *tree { return parseTree("anywhere") })
	files        = sync.OnceValue(func() *tree { return parseTree("files") })
	confidential = sync.OnceValue(func() *tree { return parseTree("confidential") })
)

func parseTree(table string) *tree {
	t, in, is := &tree{}, "", entry{}
	for line := range strings.Lines(names) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
			continue
		case line[0] != '\t':
			in, is = words[0], entry{strings.Trim(words[1], "-"), strings.Trim(words[2], "-")}
			continue
		case in != table:
			continue
		}
		for _, name := range words {
			at, e := t, is
			for part := range strings.SplitSeq(name, "/") {
				at = at.branch(strings.ReplaceAll(part, "+", " "))
			}
			at.entry = &e
		}
	}
	return t
}

func (t *tree) branch(part string) *tree {
	if name, ok := strings.CutSuffix(part, "*"); ok {
		for _, h := range t.heads {
			if h.name == name {
				return h.tree
			}
		}
		h := prefixTree{name, &tree{}}
		t.heads = append(t.heads, h)
		slices.SortFunc(t.heads, func(a, b prefixTree) int { return len(b.name) - len(a.name) })
		return h.tree
	}
	if t.sub == nil {
		t.sub = map[string]*tree{}
	}
	if t.sub[part] == nil {
		t.sub[part] = &tree{}
	}
	return t.sub[part]
}

// find follows a relative path as far as the tree knows it. It returns the innermost entry on the way, and
// how many parts lead to it.
func (t *tree) find(p string) (found *entry, parts int) {
	for n := 1; ; n++ {
		name, rest, more := strings.Cut(p, "/")
		t = t.next(name)
		if t == nil {
			return found, parts
		}
		if t.entry != nil {
			found, parts = t.entry, n
		}
		if !more {
			return found, parts
		}
		p = rest
	}
}

// leadsTo reports whether the tree has something below a relative path, but nothing for the path itself.
func (t *tree) leadsTo(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if t = t.next(part); t == nil || t.entry != nil {
			return false
		}
	}
	return true
}

func (t *tree) next(name string) *tree {
	if sub := t.sub[name]; sub != nil || name == "" {
		return sub
	}
	for _, h := range t.heads {
		if h.name[0] == name[0] && strings.HasPrefix(name, h.name) {
			return h.tree
		}
	}
	return nil
}

// fit calls for each entry that a pattern may match or lie below.
func (t *tree) fit(p, done string, call func(name string)) {
	part, rest, more := strings.Cut(p, "/")
	known := strings.IndexAny(part, patternChars)
	try := func(name string, sub *tree) {
		if sub.entry != nil && meansName(part, name) {
			call(done + name)
		}
		if more {
			sub.fit(rest, done+name+"/", call)
		}
	}
	switch {
	case known < 0:
		if sub := t.next(part); sub != nil {
			try(part, sub)
		}
		return
	case known == 0 && !more:
		return // it says nothing
	}
	for name, sub := range t.sub {
		if strings.HasPrefix(name, part[:known]) && (known > 0 || sub.sub != nil || sub.heads != nil) &&
			match(part, name, false) {
			try(name, sub)
		}
	}
	for _, h := range t.heads {
		if strings.HasPrefix(h.name, part[:known]) && match(part, h.name, false) {
			try(h.name, h.tree)
		}
	}
}
