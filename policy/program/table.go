package program

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Table holds what is known of programs, by name. A row is made ready when it is first
// asked for: few of the many are ever used. It never changes; the nil table knows none.
type Table struct {
	rows   map[string]func() *program
	stars  []string // names with a star, the longest first
	floors []*Table
}

// NewTable makes a table. Of gives the row of a name, and is asked at most once for it.
// What a program does by one of the floors, it does by this table, too.
func NewTable(names []string, row func(name string) Row, floors ...*Table) *Table {
	t := &Table{rows: make(map[string]func() *program, len(names)), floors: floors}
	for _, name := range names {
		t.rows[name] = sync.OnceValue(func() *program { return build(row(name), nil) })
		if strings.Contains(name, "*") {
			t.stars = append(t.stars, name)
		}
	}
	slices.SortFunc(t.stars, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return t
}

// Names are all names in the table, sorted.
func (t *Table) Names() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.rows))
}

// Knows says whether a program has a row.
func (t *Table) Knows(name string) bool {
	return t != nil && (t.rows[name] != nil || t.lookup(name) != nil)
}

// Of says what a program does with its arguments. Name is its name without a folder.
// For a program that is not in the table, Known is false, and only Flags and Operands
// are filled in.
func (t *Table) Of(name string, args []Word) Effect {
	e := t.own(name, args)
	if t != nil {
		for _, f := range t.floors {
			if f.lookup(name) != nil {
				e.add(f.Of(name, args))
			}
		}
	}
	return e
}

// own is the effect without floors.
func (t *Table) own(name string, args []Word) Effect {
	p := t.lookup(name)
	c := call{name: name, args: args, program: p, table: t}
	if p == nil {
		c.program = &program{}
		c.parse()
		c.Unsure = nil // nothing of it is known
		return c.Effect
	}
	c.Known = true
	if isVariable(name) {
		c.holds()
		return c.Effect
	}
	c.parse()
	if c.asksHelp() {
		c.Effect = Effect{Known: true, Sub: c.Sub, Flags: c.Flags, Operands: c.Operands}
		return c.Effect
	}
	c.apply()
	for _, name := range c.program.readers {
		c.read(name)
	}
	c.several()
	c.run(c.name, c.tail, c.name)
	c.markSends()
	if c.program.StartsShell && !c.looks && c.CodeFile == (Word{}) && !slices.ContainsFunc(c.Runs,
		func(r Run) bool { return r.Wrapper != "" || r.Argv == nil }) {
		c.startShell()
	}
	c.applyValues()
	c.Tags, c.Unsure = unique(c.Tags), unique(c.Unsure)
	return c.Effect
}

func (t *Table) lookup(name string) *program {
	if t == nil {
		return nil
	}
	if p := t.row(name); p != nil {
		return p
	}
	if bare := strings.TrimRight(name, "0123456789."); bare != name {
		if p := t.row(strings.TrimSuffix(bare, "-")); p != nil && p.Versioned {
			return p
		}
	}
	for _, star := range t.stars {
		if fits, _ := path.Match(star, name); fits {
			return t.row(star)
		}
	}
	return nil
}

// Is tells whether an effect or a mark stands in the row of a program, or in that of a floor.
func (t *Table) Is(name, word string) bool {
	p := t.lookup(name)
	return p != nil && (slices.Contains(p.tags, word) ||
		slices.ContainsFunc(t.floors, func(f *Table) bool { return f.Is(name, word) }))
}

// row finds a row by its exact name; nil: there is none.
func (t *Table) row(name string) *program {
	if ready := t.rows[name]; ready != nil {
		return ready()
	}
	return nil
}

// add adds what another table says of the same call. It never takes anything away.
func (e *Effect) add(o Effect) {
	e.Touches, e.Fetches, e.Runs = append(e.Touches, o.Touches...), append(e.Fetches,
		o.Fetches...), append(e.Runs, o.Runs...)
	e.Tags, e.Unsure, e.ExecFlags = unique(append(e.Tags, o.Tags...)), unique(append(e.Unsure,
		o.Unsure...)), unique(append(e.ExecFlags, o.ExecFlags...))
	e.Inline, e.ReadsCode, e.ReadsIn = e.Inline || o.Inline, e.ReadsCode || o.ReadsCode, e.ReadsIn ||
		o.ReadsIn
	e.Changes, e.Recursive, e.Follows = e.Changes || o.Changes, e.Recursive || o.Recursive, e.Follows ||
		o.Follows
	e.Marks = unique(append(e.Marks, o.Marks...))
	e.Patch, e.Patches, e.Spoils = e.Patch || o.Patch, append(e.Patches, o.Patches...), append(e.Spoils,
		o.Spoils...)
	if e.CodeFile == (Word{}) {
		e.CodeFile = o.CodeFile
	}
}

// unique drops what stands in a short list twice.
func unique(list []string) []string {
	kept := list[:0]
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
