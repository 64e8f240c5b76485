package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// read sets variables from a line of the standard input.
func (sh *shell) read(cmd Command, c call) {
	sh.emit(cmd)
	if sh.in.code {
		sh.a.unsure("read takes from the code that the shell is reading")
	}
	o := sh.builtinOptions(c, "rseadinNptu", "adinNptu")
	list := texts(o.rest)
	for _, w := range o.rest {
		sh.checkName(w, "read")
	}
	if w, ok := o.values['a']; ok {
		sh.readArray(w, "read -a", false)
	}
	if len(list) == 0 {
		list = []string{"REPLY"}
	}
	line := sh.in.nextLine()
	fields := strings.Fields(line)
	if len(list) == 1 {
		fields = []string{strings.TrimSpace(line)}
	}
	for i, n := range list {
		v := unknown("")
		if i < len(fields) {
			v.Text = fields[i]
		}
		v.from, v.number = union(sh.in.From, []string{"read"}), sh.in.number
		if len(list) == 1 && (sh.in.fits == listedName || v.number) {
			v.Fits = sh.in.fits
			v.Begins = v.Fits == listedName
		}
		sh.setVariable(n, v)
	}
}

func (sh *shell) mapfile(cmd Command, c call) {
	sh.emit(cmd)
	o := sh.builtinOptions(c, "tdnOsuCc", "dnOsuCc")
	if _, runs := o.values['C']; runs {
		sh.a.unfollowed(cmd.Binary + " -C evaluates code for each line")
	}
	name := literal("MAPFILE")
	if len(o.rest) > 0 {
		name = o.rest[0]
	}
	sh.readArray(name, cmd.Binary, o.letters == "t" && sh.in.fits == listedName)
	sh.in.consume()
}

// readArray sets an array to words of the standard input, which are unknown. listed means that they are
// names that a program has listed.
func (sh *shell) readArray(name word, what string, listed bool) {
	if sh.in.Known && sh.in.Text != "" {
		sh.a.unfollowed(what + " of a known text")
	}
	one := unknownWord("")
	one.from = sh.in.From
	if listed {
		one.Fits, one.Begins = listedName, true
	}
	if sh.checkName(name, what) {
		sh.setVariable(name.Text, value{set: true, array: true, word: unknownWord(""), list: []word{one}})
	}
}

// builtinArguments are the parsed arguments of a builtin.
type builtinArguments struct {
	letters string
	values  map[byte]word
	rest    []word
}

// builtinOptions parses single-letter options, some with a value. It records others as unknown.
func (sh *shell) builtinOptions(c call, letters, valued string) builtinArguments {
	o := builtinArguments{values: map[byte]word{}, rest: c.args()}
	for len(o.rest) > 0 {
		w := o.rest[0]
		if w.Dynamic && !w.Begins && !w.number {
			sh.a.unsure("an option of " + c.words[0].Text + " may only be known at run time")
		}
		if len(w.Text) < 2 || w.Text[0] != '-' {
			return o
		}
		o.rest = o.rest[1:]
		if w.Text == "--" {
			return o
		}
		for i := 1; i < len(w.Text); i++ {
			letter := w.Text[i]
			o.letters += string(letter)
			if strings.IndexByte(letters, letter) < 0 {
				sh.a.unsure("an option of " + c.words[0].Text + " that is not followed: " + w.Text)
			}
			if strings.IndexByte(valued, letter) >= 0 {
				value := w
				if value.Text = w.Text[i+1:]; value.Text == "" && len(o.rest) > 0 {
					value, o.rest = o.rest[0], o.rest[1:]
				}
				o.values[letter] = value
				break
			}
		}
	}
	return o
}

// perLine runs a program for the words of the standard input, as xargs does.
func (sh *shell) perLine(r program.Run, in *stream, from []string) {
	words := withOrigin(r.Argv, from)
	if len(words) == 0 {
		return
	}
	from = union(from, in.From)
	run := func(entries ...word) {
		list := slices.Clone(words)
		for _, e := range entries {
			e.from = from
			if r.Replace == "" {
				list = append(list, e)
			} else {
				list = substituteEntry(list, r.Replace, e)
			}
		}
		sh.call(call{words: list, program: true, listed: true})
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
	entry := unknownWord("")
	if e := sh.a.programs.Of(words[0].Text,
		programWords(appendCopy(words[1:], literal("./listed")))); in.fits == listedName && onlyReads(e) &&
		!IsShell(words[0].Text) {
		entry = literal("./listed")
	}
	run(entry)
}

// onlyReads reports whether an effect is harmless for every file of the workspace.
func onlyReads(e program.Effect) bool {
	for _, t := range e.Touches {
		if t.Op != "read" {
			return false
		}
	}
	return e.Known && len(e.Runs)+len(e.Fetches) == 0 && !e.Inline && e.CodeFile.Text == ""
}

// substituteEntry replaces a text in words by an entry.
func substituteEntry(words []word, text string, entry word) []word {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.Contains(w.Text, text) {
			out[i].Text = strings.ReplaceAll(w.Text, text, entry.Text)
			out[i].Dynamic = w.Dynamic || entry.Dynamic
			out[i].Glob = w.Glob || entry.Glob
			out[i].from = union(w.from, entry.from)
		}
	}
	return out
}

// split divides the standard input of xargs: by white space, by lines if a text is replaced, by NUL with -0.
// ok is false for quotes and backslashes.
func split(text string, r program.Run) (entries []string, ok bool) {
	ok = r.NulLines || r.WholeLine || !strings.ContainsAny(text, `'"\`)
	return strings.FieldsFunc(text, func(c rune) bool {
		switch {
		case r.NulLines:
			return c == 0
		case r.WholeLine || r.Replace != "":
			return c == '\n'
		}
		return c == '\n' || c == ' ' || c == '\t'
	}), ok
}
