// Package programs reads the files that describe what programs do with their arguments, and makes a table of
// them.
package programs

import (
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Rows are rows by the name of the program.
type Rows map[string]func() program.Row

// Shipped returns the rows of the program's own files, which tests have checked. Each row is parsed on first
// use, since few ever are.
func Shipped(files rulefile.Files, names []string) Rows {
	rows := Rows{}
	for _, file := range names {
		for _, e := range rulefile.Entries(files[file]) {
			row := func() program.Row {
				f, _ := rulefile.Decode[File](file, "version: 1\nprograms:\n"+e.Text)
				return f.Programs[0].Value.row()
			}
			for _, name := range strings.Fields(e.Key + " " + e.Value("also")) {
				rows[name] = row
			}
		}
	}
	return rows
}

// Read parses files that people write. It returns all their problems, and their examples. A program may have
// one row in all files together.
func Read(files rulefile.Files, names []string) (Rows, []Example, rulefile.Problems) {
	r := reader{rows: Rows{}, seen: map[string]rulefile.Place{}}
	for _, name := range names {
		f, problems := rulefile.Decode[File](name, files[name])
		r.problems = append(r.problems, problems...)
		for _, p := range f.Programs {
			r.add(p)
		}
	}
	return r.rows, r.examples, r.problems
}

// Table returns a table of the rows. The effects of a program by the floors are added.
func (r Rows) Table(floors ...*program.Table) *program.Table {
	return program.NewTable(slices.Collect(maps.Keys(r)), func(name string) program.Row { return r[name]() },
		floors...)
}

// Over adds rows of base that r lacks.
func (r Rows) Over(base Rows) Rows {
	out := maps.Clone(base)
	maps.Copy(out, r)
	return out
}

type reader struct {
	rows     Rows
	seen     map[string]rulefile.Place
	examples []Example
	problems rulefile.Problems
}

func (r *reader) report(at rulefile.Place, code, msg, hint string) {
	if at.Known() { // else it is about a value that could not be read, which is reported
		r.problems = append(r.problems, at.Problem(code, msg, hint))
	}
}

func (r *reader) add(p rulefile.Pair[Row]) {
	row := r.row(p)
	for _, name := range strings.Fields(p.Key.Value + " " + p.Value.Also.Value) {
		if at, twice := r.seen[name]; twice {
			r.report(p.Key.All(), rulefile.CodeDup, name+" has two rows", "the other one is at "+at.String()+
				"; put both together there")
		}
		r.seen[name] = p.Key.At
		r.rows[name] = func() program.Row { return row }
	}
}

// row reports the flaws of a row, collects its examples, and returns it.
func (r *reader) row(p rulefile.Pair[Row]) program.Row {
	row := p.Value.row()
	for _, f := range row.Check() {
		at := p.Value.find(f)
		if !at.Known() {
			at = p.Key.All()
		}
		hint := "rules/README.md has the words, under Teach a program"
		if len(f.Known) > 0 {
			hint = rulefile.DidYouMean(strings.TrimRight(f.Word, "?*"), f.Known)
		}
		r.report(at, rulefile.CodeValue, f.Msg, hint)
	}
	r.examples = append(r.examples, p.Value.examples()...)
	names := map[string]bool{}
	for i, s := range p.Value.Subcommands {
		for _, name := range strings.FieldsFunc(row.Subcommands[i].Names,
			func(c rune) bool { return c == ' ' || c == '|' }) {
			if names[name] {
				r.report(s.Key.All(), rulefile.CodeDup, "the subcommand "+name+" stands here twice",
					"put both together")
			}
			names[name] = true
		}
		row.Subcommands[i].Row = r.row(s)
	}
	return row
}
