package program

import (
	"path"
	"slices"
	"strings"
)

// finding is what find or fd would run or delete, and where.
type finding struct {
	*call
	roots   []Word
	names   []Word  // patterns of which a file must fit one
	paths   bool    // some of them are patterns of paths, in which a star stands for folders, too
	held    held    // what the tests so far leave
	all     bool    // an action stands where nothing is left out
	loose   bool    // -delete stands where no name says what is deleted
	negated bool    // a ! stands before the next test
	wide    bool    // an or, or a ! before a group: what is found need not fit the names
	regular bool    // links are not found
	groups  []group // of parentheses that are open
	execs   []execution
	delete  bool
}

// held says what limits the files that are found. A size or an age may leave nothing out.
type held uint8

const (
	nothing held = iota
	someTest
	name // or -empty
)

// group is what held before a parenthesis, and the least in one of its branches.
type group struct {
	before, branch held
	negated        bool
}

type execution struct {
	flag string
	argv []Word
}

// findLimits are tests with a value, after which perhaps not everything is left.
var findLimits = strings.Fields(`
	-amin -anewer -atime -cmin -cnewer -ctime -gid -group -inum -links -mmin -mtime -newer -perm -samefile -size -uid
	-used -user -newermt -newerct -newerat -newermm -context -fstype -lname -ilname`)
var findNames = strings.Fields("-name -iname -path -ipath -wholename -iwholename")
var findValues = strings.Fields("-xtype -maxdepth -mindepth -printf -regextype -D")
var findFlags = strings.Fields(`
	-H -L -P -a -and -print -print0 -prune -depth -d -mount -xdev -follow -noleaf -warn -nowarn -ignore_readdir_race
	-noignore_readdir_race -ls -quit -true -false -nouser -nogroup -readable -writable -executable -daystart -help
	-version -O0 -O1 -O2 -O3`)

// ViaFound is the Via of a folder of which find or fd hands files to another program, or deletes some. Which
// ones is unknown.
const ViaFound = "found"

// find has an expression instead of options.
func (c *call) find() {
	c.Flags, c.Operands, c.Unsure = nil, nil, nil // of an expression that was read as options
	f := finding{call: c}
	for i := 0; i < len(c.args); i++ {
		i = f.term(i, c.args[i])
	}
	if len(f.roots) == 0 {
		f.roots = []Word{{Text: "."}}
	}
	c.Recursive = true
	f.results()
}

// term takes one word of the expression, and gives the index of its last one.
func (f *finding) term(i int, w Word) int {
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
		f.groups = append(f.groups, group{f.held, name, f.negated})
		f.held, f.negated = nothing, false
	case w.Text == ")":
		f.closed()
	case w.Text == ",":
		f.branch()
	default:
		f.roots = append(f.roots, w)
		f.Operands = append(f.Operands, w)
	}
	return i
}

// closed ends a group: it limits what is found if all its branches do.
func (f *finding) closed() {
	if n := len(f.groups) - 1; n >= 0 {
		g := f.groups[n]
		f.groups = f.groups[:n]
		if f.held = min(f.held, g.branch); g.negated {
			f.held = nothing
		}
		f.held = max(f.held, g.before)
	}
}

// branch begins another one, after an or or a comma.
func (f *finding) branch() {
	f.wide = true
	if n := len(f.groups); n > 0 {
		f.groups[n-1].branch = min(f.groups[n-1].branch, f.held)
	}
	f.held = nothing
}

// limit notes what a test leaves, unless it is negated.
func (f *finding) limit(by held, negated bool) {
	if !negated {
		f.held = max(f.held, by)
	}
}

// test takes a test, an action or an option, with its values.
func (f *finding) test(i int, text string) int {
	negated := f.negated
	f.negated = text == "-not"
	switch {
	case text == "-not" || slices.Contains(findFlags, text):
		f.Follows = f.Follows || text == "-L" || text == "-follow"
		return i
	case text == "-o" || text == "-or":
		f.branch()
		return i
	case text == "-empty":
		f.limit(name, negated)
		return i
	case text == "-delete":
		f.delete, f.all, f.loose = true, f.all || f.held == nothing, f.loose || f.held < name
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
		if !negated && limits(value.Text) {
			f.held, f.paths = name, f.paths || !strings.HasSuffix(text, "name") || text == "-wholename"
			f.names = append(f.names, value)
		}
	case slices.Contains(findLimits, text):
		f.limit(someTest, negated)
	case text == "-regex" || text == "-iregex":
		f.limit(someTest, negated || !limits(value.Text))
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

// limits says whether a pattern has a letter that a name must have.
func limits(pattern string) bool {
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

// exec takes the command after -exec, to its ; or +.
func (f *finding) exec(i int, flag string) int {
	j := i + 1
	for j < len(f.args) && f.args[j].Text != ";" && !(f.args[j].Text == "+" && f.args[j-1].Text == "{}") {
		j++
	}
	f.execs = append(f.execs, execution{flag, f.args[i+1 : j]})
	f.all = f.all || f.held == nothing
	f.tag("carrier")
	return j
}

// results adds what happens to the files that are found.
func (f *finding) results() {
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

// named says whether all that is found fits one of the names, as far as it can be told.
func (f *finding) named() bool { return len(f.names) > 0 && !f.wide }

// runFor adds the command for the files, each in the place of {}. With -execdir it runs
// in their folder.
func (f *finding) runFor(e execution, files []candidate) {
	for _, file := range files {
		r := Run{Via: f.name + " " + e.flag, Argv: slices.Clone(e.argv), Wrapper: f.name, Dir: f.Folder}
		name := file.anywhere()
		if strings.HasSuffix(e.flag, "dir") {
			folder := f.at(file.folder)
			r.Dir = &folder
			name = in(Word{Text: "."}, file.name)
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

// candidate stands for files that are found: a name or pattern in a folder, or with an
// empty name all that is there, and the folder itself.
type candidate struct{ folder, name Word }

// anywhere is the file in any folder below.
func (c candidate) anywhere() Word {
	if c.name.Text == "" {
		return c.folder
	}
	return in(c.folder, rest(c.name, "**/"+c.name.Text))
}

// candidates are never many more than the arguments.
func (f *finding) candidates() []candidate {
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
