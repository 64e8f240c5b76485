package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// output writes what a command puts out, as far as that is known.
func (sh *shell) output(name string, e program.Effect, c call) {
	for _, u := range e.Runs {
		if u.Wrapper != "" {
			return // what it wraps has written
		}
	}
	if sh.out == nil {
		return
	}
	all := joined(c.args())
	sh.out.from = join(sh.out.from, all.from)
	for _, w := range touched(e, paths.Read) {
		for _, u := range sh.use(paths.Read, w, "") {
			if u.Class != paths.Workspace && u.Class != paths.WorkspaceRoot && len(sh.out.places) < maxNames && u.Resolved != "" {
				sh.out.places = join(sh.out.places, []string{u.Resolved})
			}
		}
	}
	text, ok := sh.ask(name, c)
	if args := texts(c.args()); !ok && !(sh.plain && strings.Contains(strings.Join(args, ""), `\`)) { // sh knows other escapes
		text, ok = fold(name, args, sh.in)
	}
	fresh := !sh.out.used
	sh.out.write(text, ok && !all.Dynamic)
	if fresh {
		sh.out.fits = sh.outputFits(name, e, c)
	}
}

// ask folds the commands whose output depends on the shell.
func (sh *shell) ask(name string, c call) (text string, ok bool) {
	args := texts(c.args())
	switch name {
	case "pwd":
		return sh.dir.path + "\n", sh.dir.known && len(sh.dir.or) == 0
	case "git":
		if slices.Equal(args, []string{"rev-parse", "--show-toplevel"}) {
			for _, root := range sh.a.guard.Roots.Write {
				if sh.dir.known && (sh.dir.path == root || strings.HasPrefix(sh.dir.path, root+"/")) {
					return root + "\n", true
				}
			}
		}
	case "mktemp":
		if _, moved := sh.get("TMPDIR"); !moved && (len(args) == 0 || slices.Equal(args, []string{"-d"})) {
			return "/tmp/tmp.XXXXXXXXXX\n", true
		}
	case "cat":
		var b strings.Builder
		for _, w := range c.args() {
			f := sh.made(w)
			if f == nil || !f.known {
				return "", false
			}
			sh.out.from = join(sh.out.from, f.from)
			b.WriteString(f.text.String())
		}
		return b.String(), len(args) > 0
	}
	return "", false
}

// fold is the output of a program that only transforms text. It is not ok where the
// text depends on anything else; it may still be a guess then.
func fold(name string, args []string, in *stream) (text string, ok bool) {
	switch name {
	case "true", ":", "false", "cd", "exit", "return", "break", "continue", "wait":
		return "", true
	case "echo":
		return foldEcho(args)
	case "printf":
		return foldPrintf(args)
	case "seq":
		return foldSeq(args)
	case "basename":
		if len(args) == 1 {
			return path.Base(args[0]) + "\n", true
		}
	case "dirname":
		if len(args) == 1 {
			return path.Dir(args[0]) + "\n", true
		}
	case "which":
		if len(args) == 1 {
			return "/usr/bin/" + path.Base(args[0]) + "\n", false
		}
	case "command", "type":
		if len(args) == 2 && (args[0] == "-v" || args[0] == "-p" || args[0] == "-P") {
			return "/usr/bin/" + path.Base(args[1]) + "\n", false
		}
	}
	if !in.Known {
		return "", false
	}
	return filter(name, args, in.Text)
}

func foldEcho(args []string) (string, bool) {
	escapes, end := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				end = ""
			default:
				escapes = c == 'e'
			}
		}
		args = args[1:]
	}
	s := strings.Join(args, " ")
	if !escapes {
		return s + end, true
	}
	s, stopped, ok := unescape(s, echoEscapes)
	if stopped {
		end = ""
	}
	return s + end, ok
}

var (
	wide = lazyregexp.New(`%[^a-zA-Z%]*([0-9]{4}|\*|\.|#|\$)|%[^a-zA-Z%]*[^sbdiuoxc%0-9 +-]`)
	verb = lazyregexp.New(`%[0-9 +-]*[a-zA-Z%]`)

	number = lazyregexp.New(`^(0|-?[1-9][0-9]{0,9})$`)
)

// formatted writes a text so that a format prints it.
var formatted = strings.NewReplacer(`\`, `\\`, "%", "%%")

func foldPrintf(args []string) (string, bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || wide().MatchString(args[0]) || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	format, ok := plainFormat(args[0])
	rest := append([]string{}, args[1:]...)
	if strings.Contains(format, "%b") {
		for _, v := range verb().FindAllString(format, -1) {
			ok = ok && (v == "%b" || v == "%%") // else it is not clear which argument is whose
		}
		format = strings.ReplaceAll(format, "%b", "%s")
		for i, s := range rest {
			text, stopped, good := unescape(s, valueEscapes)
			rest[i], ok = text, ok && good && !stopped
		}
	}
	ok = ok && numbersArePlain(format, rest)
	var b strings.Builder
	for ok {
		s, n, err := expand.Format(nil, format, rest)
		b.WriteString(s)
		if err != nil || b.Len() > maxSinkBytes {
			return b.String(), false
		}
		if rest = rest[n:]; n == 0 || len(rest) == 0 {
			return b.String(), true
		}
	}
	return "", false
}

// numbersArePlain tells whether what a format writes as numbers are such: bash reads ' 1',
// 0x1 and 'a, too.
func numbersArePlain(format string, args []string) bool {
	verbs := slices.DeleteFunc(verb().FindAllString(format, -1), func(v string) bool { return strings.HasSuffix(v, "%") })
	for i, s := range args {
		if len(verbs) > 0 && !strings.ContainsAny(verbs[i%len(verbs)], "sbc") && !number().MatchString(s) {
			return false
		}
	}
	return true
}

// plainFormat is a format without escapes, in which each backslash stands for itself.
func plainFormat(format string) (string, bool) {
	var b strings.Builder
	from := 0
	for _, at := range append(verb().FindAllStringIndex(format, -1), []int{len(format), len(format)}) {
		text, _, ok := unescape(format[from:at[0]], formatEscapes)
		if !ok {
			return "", false
		}
		b.WriteString(formatted.Replace(text))
		b.WriteString(format[at[0]:at[1]])
		from = at[1]
	}
	return b.String(), true
}

func foldSeq(args []string) (string, bool) {
	first, last := 1, 0
	var err1, err2 error
	switch len(args) {
	case 1:
		last, err1 = strconv.Atoi(args[0])
	case 2:
		first, err1 = strconv.Atoi(args[0])
		last, err2 = strconv.Atoi(args[1])
	default:
		return "", false
	}
	if err1 != nil || err2 != nil || last-first > maxRounds || first < 0 || last < 0 {
		return "", false
	}
	var b strings.Builder
	for i := first; i <= last; i++ {
		b.WriteString(strconv.Itoa(i))
		b.WriteByte('\n')
	}
	return b.String(), true
}
