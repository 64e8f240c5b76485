package ruleset

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/programs"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// isPrograms reports whether a file of any layer holds rows of programs.
func isPrograms(name string) bool { return path.Base(path.Dir(name)) == rulefile.ProgramFolder }

// programs makes the table: the operator's rows over the program's own. Under a locked folder, its rows and
// the program's own are floors: the operator cannot remove effects.
func (l *loader) programs() {
	var own, base, shipped, locked []string
	read := rulefile.Files{}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if !isPrograms(name) {
			continue
		}
		read[name] = l.files[name]
		plain, isBuiltin := strings.CutPrefix(name, rulefile.BuiltinFolder+"/")
		text, replaced := l.files[plain]
		switch {
		case isBuiltin:
			if shipped = append(shipped, name); !replaced || rulesOf(text) == rulesOf(l.files[name]) {
				base = append(base, name)
			}
		case l.files.Has(rulefile.BuiltinFolder+"/"+name) &&
			rulesOf(l.files[name]) == rulesOf(l.files[rulefile.BuiltinFolder+"/"+name]): // unchanged
		case strings.HasPrefix(name, rulefile.PolicyFolder+"/"):
			locked = append(locked, name)
		default:
			own = append(own, name)
		}
	}
	l.rowsSum = read.Version()
	var floors []*program.Table
	if l.files.Locked() {
		floors = []*program.Table{programs.Shipped(l.files, shipped).Table()}
	}
	if len(locked) > 0 {
		rows, examples := l.rows(locked)
		floors = append(floors, rows.Table())
		l.programExamples(examples, &l.locked.examples)
	}
	rows, examples := l.rows(own)
	l.programExamples(examples, &l.examples)
	l.set.Programs = rows.Over(programs.Shipped(l.files, base)).Table(floors...)
}

// rulesOf returns a file without its first line, which names a schema by a path that depends on the folder.
func rulesOf(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// rows returns the rows of files that people write.
func (l *loader) rows(files []string) (programs.Rows, []programs.Example) {
	l.set.Counts.Files += len(files)
	if l.trusted {
		return programs.Shipped(l.files, files), nil
	}
	rows, examples, problems := programs.Read(l.files, files)
	l.problems = append(l.problems, problems...)
	return rows, examples
}

func (l *loader) programExamples(examples []programs.Example, to *[]func()) {
	for _, e := range examples {
		*to = append(*to, func() {
			if wrong := e.Wrong(l.set.Programs); wrong != "" {
				l.report(e.Command.All(), codeExample, wrong,
					"see what it does: gpt-oss-executor policy program "+strconv.Quote(e.Command.Value))
			}
		})
	}
}
