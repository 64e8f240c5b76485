package program

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Table holds what is known of programs, by name. Rows are compiled on first use, since few are ever used. It
// never changes; the nil Table is empty.
type Table struct {
	rows   map[string]func() *program
	stars  []string // names with *, the longest first
	floors []*Table
}

// NewTable returns a table. row is called at most once per name. The effects of a program by the floors are
// added to those by this table.
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

// Names returns all names in the table, sorted.
func (t *Table) Names() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.rows))
}

// Knows reports whether a program has a row.
func (t *Table) Knows(name string) bool {
	return t != nil && (t.rows[name] != nil || t.lookup(name) != nil)
}

// Of returns what a program does with its arguments. name has no folder. For an unknown program, only Flags
// and Operands are set.
func (t *Table) Of(name string, args []Word) Effect {
	e := t.effect(name, args)
	if t != nil {
		for _, f := range t.floors {
			if f.lookup(name) != nil {
				e.add(f.Of(name, args))
			}
		}
	}
	return e
}

// effect returns the effect without floors.
func (t *Table) effect(name string, args []Word) Effect {
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
		c.applyVariable()
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
	c.checkSplitting()
	c.run(c.name, c.tail, c.name)
	c.markUploads()
	if c.program.StartsShell && !c.readOnly && c.CodeFile == (Word{}) && !slices.ContainsFunc(c.Runs,
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

// Prints returns what the output of a call is; empty: unknown.
func (t *Table) Prints(name string, args []string) string {
	if p := t.lookup(name); p != nil {
		line := strings.Join(append([]string{name}, args...), "\x00")
		for _, o := range p.prints {
			if o.words.MatchString(line) {
				return o.kind
			}
		}
	}
	return ""
}

// isUsual reports whether a value is usual for a program.
func (t *Table) isUsual(name string, w Word) bool {
	p := t.lookup(name)
	return p != nil && p.isUsual(w)
}

// Is reports whether an effect or mark is in the row of a program, or in that of a floor.
func (t *Table) Is(name, word string) bool {
	p := t.lookup(name)
	return p != nil && (slices.Contains(p.tags, word) ||
		slices.ContainsFunc(t.floors, func(f *Table) bool { return f.Is(name, word) }))
}

// row returns the row of an exact name; nil: none.
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

// unique removes duplicates from a short list.
func unique(list []string) []string {
	kept := list[:0]
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
