package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// read sets variables from a line of the standard input.
func (sh *shell) read(cmd Command, c call) {
	sh.emit(cmd)
	if sh.in.code {
		sh.a.unsure("read takes from the code that the shell is reading")
	}
	var names []string
	plain := true
	args := c.args()
	for i := 0; i < len(args); i++ {
		switch s := args[i].Text; {
		case s == "-r", s == "-s", s == "-e":
		case len(s) > 1 && s[0] == '-':
			plain = false
			if strings.ContainsAny(s[len(s)-1:], "adinNptu") && s != "--" {
				if i++; i < len(args) && strings.HasSuffix(s, "a") {
					names = append(names, args[i].Text)
				}
			}
		default:
			names = append(names, s)
		}
		if i < len(args) && args[i].Dynamic {
			sh.a.unsure("the name of a variable that read sets is only known at run time")
		}
	}
	line, ok := sh.in.next()
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	raw := slices.Contains(cmd.Flags, "-r") || !strings.Contains(line, "\\")
	if !raw {
		line = backslashes().ReplaceAllString(line, "$1")
	}
	fields := expand.ReadFields(&expand.Config{}, line, len(names), true)
	if len(names) == 1 {
		fields = []string{strings.Trim(line, " \t")}
	}
	for i, n := range names {
		v := known("")
		if i < len(fields) {
			v.Str = fields[i]
		}
		_, other := sh.get("IFS")
		v.unknown = !ok || !plain || !raw || other && !sh.defaultIFS()
		v.from, v.glob = join(sh.in.From, []string{"read"}), true
		if v.unknown && len(names) == 1 && sh.in.fits == listed && len(sh.in.places) == 0 {
			v.fits = listed
		}
		sh.name(n)
		sh.assigned(n, v)
	}
}

func (sh *shell) defaultIFS() bool {
	v, ok := sh.get("IFS")
	return ok && !v.unknown && v.Str == " \t\n"
}

// backslashes are what read drops without -r.
var backslashes = lazyregexp.New(`(?s)\\(.)`)

func (sh *shell) mapfile(cmd Command, c call) {
	sh.emit(cmd)
	name := "MAPFILE"
	plain := true
	args := c.args()
	for i := 0; i < len(args); i++ {
		switch s := args[i].Text; {
		case s == "-t":
		case len(s) > 1 && s[0] == '-':
			plain = false
			if i++; strings.HasSuffix(s, "C") && i < len(args) {
				sh.a.unsure(cmd.Binary + " -C evaluates code for each line")
				sh.nested(cmd.Binary).codeOf(args[i], cmd.Binary)
			}
		default:
			name = s
		}
	}
	sh.name(name)
	v := value{Variable: expand.Variable{Set: true, Kind: expand.Indexed}, from: sh.in.From, glob: true}
	if text := strings.TrimSuffix(sh.in.Text, "\n"); text != "" {
		v.List = strings.Split(text, "\n")
	}
	v.unknown = !sh.in.Known || !plain
	sh.in.taken()
	sh.assigned(name, v)
}

// perLine runs a program for the words of the standard input, as xargs does.
func (sh *shell) perLine(r program.Run, in *stream, from []string) {
	words := withOrigin(r.Argv, from)
	if len(words) == 0 {
		return
	}
	from = join(from, in.From)
	run := func(entries ...word) {
		list := slices.Clone(words)
		for _, e := range entries {
			e.from = from
			if r.Replace == "" {
				list = append(list, e)
			} else {
				list = replaced(list, r.Replace, e)
			}
		}
		sh.call(call{words: list, program: true})
	}
	if texts, ok := split(in.Text, r); in.Known && ok {
		entries := make([]word, len(texts))
		for i, s := range texts {
			entries[i] = literal(s)
		}
		if r.Replace == "" || len(entries) == 0 { // it may run once without any
			run(entries...)
		}
		switch {
		case r.Replace == "" && (!r.Groups || len(entries) < 2):
		case r.Replace == "" && len(entries) > maxRounds:
			sh.a.unsure("a program runs for each of too many entries")
		default:
			for _, e := range entries {
				run(e)
			}
		}
		return
	}
	entry := word{Word: program.Word{Dynamic: true}}
	if e := program.Of(words[0].Text, programWords(appended(words[1:], literal("./listed")))); in.fits == listed && onlyReads(e) && !isShell(words[0].Text) {
		entry = literal("./listed")
	}
	run(entry)
	for _, p := range in.places { // what is found there may be all of it
		run(word{Word: program.Word{Text: strings.TrimSuffix(p, "/") + "/*", Glob: true}})
	}
}

// onlyReads tells whether an effect is harmless for any file of the workspace.
func onlyReads(e program.Effect) bool {
	for _, t := range e.Touches {
		if t.Op != "read" {
			return false
		}
	}
	return e.Known && len(e.Runs)+len(e.Fetches) == 0 && !e.Inline && e.CodeFile.Text == ""
}

// replaced is a command with an entry in the place of a text.
func replaced(words []word, text string, entry word) []word {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.Contains(w.Text, text) {
			out[i].Text = strings.ReplaceAll(w.Text, text, entry.Text)
			out[i].Dynamic = w.Dynamic || entry.Dynamic
			out[i].Glob = w.Glob || entry.Glob
			out[i].from = join(w.from, entry.from)
		}
	}
	return out
}

// split takes the standard input of xargs apart: by white space, with quotes; by lines
// where a text is replaced; by NUL with -0. It is not sure of quotes that do not close.
func split(text string, r program.Run) (entries []string, ok bool) {
	if r.NulLines {
		return strings.FieldsFunc(text, func(c rune) bool { return c == 0 }), true
	}
	if r.WholeLine {
		return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' }), true
	}
	var b strings.Builder
	quote, started := byte(0), false
	end := func() {
		if started {
			entries = append(entries, b.String())
		}
		b.Reset()
		started = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			started = true
		case c == '\n', r.Replace == "" && (c == ' ' || c == '\t'):
			end()
		case started || c != ' ' && c != '\t':
			b.WriteByte(c)
			started = true
		}
	}
	end()
	return entries, quote == 0
}
