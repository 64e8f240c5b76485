package shell

import (
	"cmp"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// output writes what is known of a command's output.
func (sh *shell) output(name string, e program.Effect, c call) {
	for _, u := range e.Runs {
		if u.Wrapper != "" {
			return // what it wraps has written
		}
	}
	if sh.out == nil {
		return
	}
	all := joinWords(c.args())
	sh.out.from = union(sh.out.from, all.from)
	text, ok := sh.shellOutput(name, c)
	// sh knows other escapes
	if args := texts(c.args()); !ok && !(sh.posix && strings.Contains(strings.Join(args, ""), `\`)) {
		text, ok = outputText(name, args, sh.in)
	}
	fresh := !sh.out.used
	sh.out.write(text, ok && !all.Dynamic)
	if fresh {
		sh.out.fits, sh.out.number = sh.outputFits(name, e, c)
	}
}

// shellOutput returns the output of commands that depends on the shell.
func (sh *shell) shellOutput(name string, c call) (text string, ok bool) {
	args := texts(c.args())
	switch name {
	case "pwd":
		return sh.dir.path + "\n", sh.dir.known && len(sh.dir.alternatives) == 0
	case "git":
		if slices.Equal(args, []string{"rev-parse", "--show-toplevel"}) {
			for _, root := range sh.a.guard.Roots.Write {
				if sh.dir.known && (sh.dir.path == root || strings.HasPrefix(sh.dir.path, root+"/")) {
					return root + "\n", true
				}
			}
		}
	case "mktemp":
		if v, set := sh.get("TMPDIR"); !set && v.Dynamic && (len(args) == 0 ||
			slices.Equal(args, []string{"-d"})) {
			return "/tmp/tmp.XXXXXXXXXX\n", true
		}
	case "cat":
		var b strings.Builder
		for _, w := range c.args() {
			f := sh.created(w)
			if f == nil || !f.known {
				return "", false
			}
			sh.out.from = union(sh.out.from, f.from)
			b.WriteString(f.text.String())
		}
		return b.String(), len(args) > 0
	}
	return "", false
}

// outputText returns the output of a program that only transforms text. ok is false where it depends on
// anything else; text may then be a guess.
func outputText(name string, args []string, in *stream) (text string, ok bool) {
	switch name {
	case "true", ":", "false", "cd", "exit", "return", "break", "continue", "wait":
		return "", true
	case "echo":
		return echoText(args)
	case "printf":
		return printfText(args)
	}
	decodes := name == "base64" && len(args) == 1 && slices.Contains([]string{"-d", "-D", "--decode", "-di"},
		args[0])
	switch {
	case !in.Known:
	case name == "cat" && (len(args) == 0 || len(args) == 1 && args[0] == "-"), name == "tee":
		return in.Text, true
	case decodes:
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in.Text), ""))
		return string(b), err == nil
	}
	return "", false
}

func echoText(args []string) (string, bool) {
	end := "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		if strings.Contains(args[0], "e") {
			return "", false
		}
		if strings.Contains(args[0], "n") {
			end = ""
		}
		args = args[1:]
	}
	return strings.Join(args, " ") + end, true
}

var numberPattern = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,9})$`)

var printfVerb = regexp.MustCompile(`%[sd%]`)

// printfText knows %s, %d, %% and \n.
func printfText(args []string) (text string, ok bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	format, rest := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(args[0]), args[1:]
	if strings.ContainsAny(printfVerb.ReplaceAllString(format, ""), `%\`) {
		return "", false
	}
	ok = true
	for before := -1; ok && before != len(rest) && (before < 0 || len(rest) > 0); {
		before = len(rest)
		text += printfVerb.ReplaceAllStringFunc(format, func(verb string) string {
			value := ""
			switch {
			case verb == "%%":
				return "%"
			case len(rest) > 0:
				value, rest = rest[0], rest[1:]
			}
			if verb == "%d" {
				value = cmp.Or(value, "0")
				ok = ok && numberPattern.MatchString(value)
			}
			return value
		})
		ok = ok && len(text) <= maxSinkBytes
	}
	return text, ok
}

// listedName stands for names that a program has listed: files of the workspace.
const listedName = "./listed"

// outputFits returns what each word of the output fits, and whether each is a number.
func (sh *shell) outputFits(name string, e program.Effect, c call) (fits string, number bool) {
	args := c.args()
	any := func(is func(word) bool) bool { return slices.ContainsFunc(args, is) }
	switch prints := sh.a.programs.Prints(name, texts(args)); {
	case prints == "numbers" && !e.Recursive &&
		!any(func(w word) bool { return w.Glob || w.Dynamic && !w.number && !w.Begins }):
		return "*", true
	case prints == "word" && !any(word.vague):
		return "*", false
	case prints == "lines" && sh.in.fits == listedName && len(e.Touches) == 0,
		prints == "names" && len(e.Runs) == 0 && !slices.ContainsFunc(e.Operands,
			func(w program.Word) bool { return slices.Contains(strings.Split(w.Text, "/"), "..") }):
	default:
		return "", false
	}
	for _, w := range append(touched(e, paths.Read), literal(".")) {
		for _, u := range sh.use(paths.Read, w, "") {
			sh.a.guard.Follows(&u) // who is given the names opens what links lead to
			if !paths.InWorkspace(u.Class) || len(u.Marks) > 0 {
				return "", false
			}
		}
	}
	return listedName, false
}
