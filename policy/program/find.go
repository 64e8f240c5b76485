package program

import (
	"path"
	"slices"
	"strings"
)

// findCall is what find or fd would run or delete, and where.
type findCall struct {
	*call
	roots   []Word
	names   []Word  // patterns, one of which a file must match
	paths   bool    // some are patterns of paths, in which * matches /
	filter  filter  // of the tests so far
	all     bool    // an action applies to everything
	loose   bool    // -delete applies without a test of names
	negated bool    // ! precedes the next test
	wide    bool    // an or, or ! before a group: files need not match names
	regular bool    // links are not found
	groups  []group // open parentheses
	execs   []execution
	delete  bool
}

// filter is what limits the files that are found. A size or an age may match every file.
type filter uint8

const (
	nothing filter = iota
	someTest
	name // or -empty
)

// group is the filter before a parenthesis, and the weakest of its branches.
type group struct {
	outer, branch filter
	negated       bool
}

type execution struct {
	flag string
	argv []Word
}

var findNames = strings.Fields("-name -iname -path -ipath -wholename -iwholename")
var findValues = strings.Fields("-xtype -maxdepth -mindepth -printf -regextype -D")

// ViaFound is the Via of a folder from which find or fd hands unknown files to a program, or deletes some.
const ViaFound = "found"

// find parses the expression of find.
func (c *call) find() {
	c.Flags, c.Operands, c.Unsure = nil, nil, nil // of an expression that was read as options
	f := findCall{call: c}
	for i := 0; i < len(c.args); i++ {
		i = f.term(i, c.args[i])
	}
	if len(f.roots) == 0 {
		f.roots = []Word{{Text: "."}}
	}
	c.Recursive = true
	f.results()
}

// term parses one word of the expression and returns the index of its last word.
func (f *findCall) term(i int, w Word) int {
	if w.Dynamic && !w.Begins && !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "./") {
		f.unsure("a word of the expression is only known at run time")
	}
	switch {
	case strings.HasPrefix(w.Text, "-") && w.Text != "-":
		f.Flags = append(f.Flags, w.Text)
		return f.test(i, w.Text)
	case w.Text == "!":
		f.negated = true
	case w.Text == "(":
		f.wide = f.wide || f.negated
		f.groups = append(f.groups, group{f.filter, name, f.negated})
		f.filter, f.negated = nothing, false
	case w.Text == ")":
		f.closeGroup()
	case w.Text == ",":
		f.branch()
	default:
		f.roots = append(f.roots, w)
		f.Operands = append(f.Operands, w)
	}
	return i
}

// closeGroup ends a group, which limits what is found if all its branches do.
func (f *findCall) closeGroup() {
	if n := len(f.groups) - 1; n >= 0 {
		g := f.groups[n]
		f.groups = f.groups[:n]
		if f.filter = min(f.filter, g.branch); g.negated {
			f.filter = nothing
		}
		f.filter = max(f.filter, g.outer)
	}
}

// branch starts another branch after an or or a comma.
func (f *findCall) branch() {
	f.wide = true
	if n := len(f.groups); n > 0 {
		f.groups[n-1].branch = min(f.groups[n-1].branch, f.filter)
	}
	f.filter = nothing
}

// restrict applies a test unless it is negated.
func (f *findCall) restrict(by filter, negated bool) {
	if !negated {
		f.filter = max(f.filter, by)
	}
}

// test parses a test, an action or an option, with its values.
func (f *findCall) test(i int, text string) int {
	negated, known := f.negated, f.exact(text)
	f.negated = text == "-not"
	switch {
	case text == "-not" || known != nil && known.kind == "":
		f.Follows = f.Follows || text == "-L" || text == "-follow"
		return i
	case text == "-o" || text == "-or":
		f.branch()
		return i
	case text == "-empty":
		f.restrict(name, negated)
		return i
	case text == "-delete":
		f.delete, f.all, f.loose = true, f.all || f.filter == nothing, f.loose || f.filter < name
		f.tag("find-delete")
		return i
	case strings.HasPrefix(text, "-exec") || strings.HasPrefix(text, "-ok"):
		return f.exec(i, text)
	}
	var value Word
	if i+1 < len(f.args) {
		value = f.args[i+1]
	}
	switch {
	case slices.Contains(findNames, text):
		if !negated && restricts(value.Text) {
			f.filter, f.paths = name, f.paths || !strings.HasSuffix(text, "name") || text == "-wholename"
			f.names = append(f.names, value)
		}
	case known != nil: // a test with a value, which may exclude files
		f.restrict(someTest, negated)
	case text == "-regex" || text == "-iregex":
		f.restrict(someTest, negated || !restricts(value.Text))
	case text == "-type":
		f.regular = f.regular || !negated && !strings.Contains(value.Text, "l")
	case slices.Contains(findValues, text):
	case text == "-fprintf":
		f.touch("write", value, text)
		return i + 2
	case strings.HasPrefix(text, "-fprint") || text == "-fls":
		f.touch("write", value, text)
	case text == "-files0-from":
		f.use("names", value, text)
	default:
		f.unsure("unknown test " + text)
		return i
	}
	return i + 1
}

// restricts reports whether a pattern has a character that a name must have.
func restricts(pattern string) bool {
	for len(pattern) > 0 {
		i := strings.IndexByte(pattern, '[')
		if i < 0 {
			i = len(pattern)
		}
		if strings.Trim(pattern[:i], `*?./+^$()|\`) != "" {
			return true
		}
		_, pattern, _ = strings.Cut(pattern[i:], "]")
	}
	return false
}

// exec parses the command after -exec, up to ; or +.
func (f *findCall) exec(i int, flag string) int {
	j := i + 1
	for j < len(f.args) && f.args[j].Text != ";" && !(f.args[j].Text == "+" && f.args[j-1].Text == "{}") {
		j++
	}
	f.execs = append(f.execs, execution{flag, f.args[i+1 : j]})
	f.all = f.all || f.filter == nothing
	f.tag("carrier")
	return j
}

// results adds what happens to the files that are found.
func (f *findCall) results() {
	via := "folder"
	if len(f.execs) > 0 && (f.paths || !f.named()) && (f.wide || !f.regular) {
		f.Follows = true // the program opens what a link leads to
	}
	if len(f.execs) > 0 && (f.Follows || !f.named()) {
		via = ViaFound
	}
	for _, r := range f.roots {
		f.touch("read", r, via)
	}
	files := f.candidates()
	for i := 0; f.delete && i < len(files); i++ {
		f.touch("delete", files[i].anywhere(), "find -delete")
	}
	for i := 0; f.loose && !f.all && i < len(f.roots); i++ {
		f.touch("delete", f.roots[i], ViaFound)
	}
	for _, e := range f.execs {
		if len(e.argv) == 0 {
			continue
		}
		if path.Base(e.argv[0].Text) == "rm" && (f.all || !f.named()) {
			f.tag("bulk-delete")
		}
		f.runFor(e, files)
	}
}

// named reports whether all files that are found match one of the names.
func (f *findCall) named() bool { return len(f.names) > 0 && !f.wide }

// runFor adds the command for the files, each in place of {}. With -execdir it runs in their folder.
func (f *findCall) runFor(e execution, files []candidate) {
	for _, file := range files {
		r := Run{Via: f.name + " " + e.flag, Argv: slices.Clone(e.argv), Wrapper: f.name, Dir: f.Folder}
		name := file.anywhere()
		if strings.HasSuffix(e.flag, "dir") {
			folder := f.resolve(file.folder)
			r.Dir = &folder
			name = inFolder(Word{Text: "."}, file.name)
		}
		for i, w := range r.Argv {
			if strings.Contains(w.Text, "{}") {
				r.Argv[i].Text = strings.ReplaceAll(w.Text, "{}", name.Text)
				r.Argv[i].Dynamic = w.Dynamic || name.Dynamic
				r.Argv[i].Glob = w.Glob || w.Text == "{}" && name.Glob
			}
		}
		f.Runs = append(f.Runs, r)
	}
}

// candidate stands for files that are found: a name or pattern in a folder or, with an empty name, the folder
// and everything in it.
type candidate struct{ folder, name Word }

// anywhere returns the file in any folder below.
func (c candidate) anywhere() Word {
	if c.name.Text == "" {
		return c.folder
	}
	return inFolder(c.folder, withText(c.name, "**/"+c.name.Text))
}

// candidates returns few more files than there are arguments.
func (f *findCall) candidates() []candidate {
	names := f.names
	if f.all {
		names = []Word{{}}
	}
	if len(names) == 0 {
		names = []Word{{Text: "found"}}
	}
	if len(names)*len(f.roots) > max(64, len(f.args)) {
		f.unsure("too many names in too many folders")
		names = []Word{{}}
	}
	var files []candidate
	for _, r := range f.roots {
		for _, n := range names {
			n.Text = strings.TrimPrefix(n.Text, "./")
			n.Glob, n.Begins = n.Text != "", true
			files = append(files, candidate{r, n})
		}
	}
	return files
}
