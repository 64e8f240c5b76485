package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

// Flaw is a part of a text that is more than a plain command. Both sentences address the author of the text.
type Flaw struct{ Why, Instead string }

// Error says what the part does.
func (f *Flaw) Error() string { return f.Why }

// The flaws that several parts share.
var (
	flawText = &Flaw{"it cannot be taken apart",
		"Write each command on one line, without control characters."}
	flawRedirect = &Flaw{"it redirects input or output",
		"Leave the redirection out. To write a file, use the tool for that."}
	flawValue   = &Flaw{"a part of it is known only at run time", "Write the values out."}
	flawGroup   = &Flaw{"it is more than a list of commands", "Send the commands one by one."}
	flawFolder  = &Flaw{"it changes the folder first", "Leave cd out, and name the folder in workdir."}
	flawBuiltin = &Flaw{"it changes the shell itself",
		"Send programs with their arguments. To set variables, use the argument env."}
	flawShell = &Flaw{"it starts a shell", "Send the commands of that shell."}
	flawEnv   = &Flaw{"an option of env changes how the program runs",
		"Leave env out, and set variables in the argument env."}
	flawLoader = &Flaw{"it starts an interpreter that finds its code by itself",
		"Name the program itself, as in pip for python -m pip, or the file of code first."}
)

// CheckPlain returns the first Flaw that keeps a text from being plain commands: programs with written-out
// arguments, joined by ; && || and |. It returns nil if a comment may follow them on the same line.
//
// OpenClaw asks a person only about commands whose programs it finds in the text, and it finds those of plain
// commands.
func CheckPlain(text string) *Flaw {
	odd := func(r rune) bool {
		return r != '\n' && r != '\t' && r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r))
	}
	if len(text) > shell.DefaultLimits.Bytes || strings.ContainsFunc(text, odd) ||
		strings.Contains(text, "\\\n") || strings.HasSuffix(text, `\`) {
		return flawText
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return flawText
	}
	for _, s := range file.Stmts {
		if f := plainStatement(s); f != nil {
			return f
		}
	}
	return nil
}

func plainStatement(s *syntax.Stmt) *Flaw {
	switch {
	case len(s.Redirs) > 0:
		return flawRedirect
	case s.Background || s.Coprocess:
		return &Flaw{"it goes on in the background", "Leave & out, and set background."}
	case s.Negated:
		return flawGroup
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return plainCall(c)
	case *syntax.BinaryCmd:
		if c.Op == syntax.PipeAll {
			return flawRedirect
		}
		if f := plainStatement(c.X); f != nil {
			return f
		}
		return plainStatement(c.Y)
	case *syntax.DeclClause:
		return flawBuiltin
	}
	return flawGroup
}

func plainCall(c *syntax.CallExpr) *Flaw {
	for _, a := range c.Assigns {
		if a.Value == nil || a.Append || a.Index != nil || a.Array != nil || a.Name.Value == "ENV" ||
			a.Name.Value == "BASH_ENV" {
			return flawBuiltin
		}
		if _, f := plainWord(a.Value.Parts); f != nil {
			return f
		}
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		text, f := plainWord(w.Parts)
		if f != nil {
			return f
		}
		words[i] = text
	}
	if len(words) == 0 || words[0] == "" {
		return flawBuiltin
	}
	return plainProgram(words)
}

// plainWord returns the text of a word that is the same whenever it is read, except for the files that a
// pattern in it matches.
func plainWord(parts []syntax.WordPart) (text string, f *Flaw) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.Contains(escapedRune.ReplaceAllString(p.Value, ""), "$") {
				return "", flawValue // a $ alone is one, too, but parsers differ about it
			}
			text += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", flawValue
			}
			text += p.Value
		case *syntax.DblQuoted:
			inner, f := plainWord(p.Parts)
			if p.Dollar || f != nil {
				return "", flawValue
			}
			text += inner
		default:
			return "", flawValue
		}
	}
	return text, nil
}

var escapedRune = regexp.MustCompile(`(?s)\\.`)

// interpreters run code from a file, or from the argument behind one of these options.
var interpreters = map[string]string{
	"node": "-e --eval -p --print", "nodejs": "-e --eval -p --print", "perl": "-e -E -ne -pe", "php": "-r",
	"python": "-c", "pypy": "-c", "ruby": "-e",
	"awk": "", "esno": "", "gawk": "", "gsed": "-e", "jiti": "", "lua": "-e", "mawk": "", "nawk": "",
	"sed": "-e", "ts-node": "", "ts-node-esm": "", "tsx": "", "vite-node": "",
}

// plainProgram checks the program that the words run, and those that a launcher may run.
func plainProgram(words []string) *Flaw {
	name := path.Base(words[0])
	options, interprets := interpreters[strings.TrimRight(name, "0123456789.")]
	switch {
	case name == "cd" || name == "pushd" || name == "popd":
		return flawFolder
	case shell.IsBuiltin(name) && !slices.Contains(programBuiltins, name), syntax.IsKeyword(name),
		name == "coproc":
		return flawBuiltin
	case strings.ContainsAny(words[0], "*?[{~"):
		return flawValue
	case shell.IsShell(name):
		if len(words) == 1 || strings.HasPrefix(words[1], "-") || strings.HasPrefix(words[1], "+") {
			return flawShell
		}
	case slices.Contains(lists.List("opaque"), name),
		interprets && !namesCode(words[1:], strings.Fields(options)):
		return flawLoader
	case name == "env" && len(words) > 1 && strings.HasPrefix(words[1], "-"):
		return flawEnv
	}
	if slices.Contains(lists.List("launchers"), name) {
		for i := 1; i < len(words); i++ {
			if f := plainProgram(words[i:]); f == flawShell || f == flawLoader {
				return f
			}
		}
	}
	return nil
}

// namesCode reports whether the arguments of an interpreter begin with a file, or with code behind one of its
// options and no further option, which could load more.
func namesCode(args, options []string) bool {
	switch {
	case len(args) == 0:
		return false
	case slices.Contains(options, args[0]):
		return len(args) > 1 && !slices.ContainsFunc(args[2:], isOption)
	}
	return !isOption(args[0])
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") }

// programBuiltins are builtins that also exist as programs.
var programBuiltins = []string{"echo", "false", "printf", "pwd", "test", "true"}
