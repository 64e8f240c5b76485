package program

import (
	"slices"
	"strings"
)

// Example returns the effect of a command line in the words of the files of programs: read a, write b,
// publish, run sh. If it is not understood, it returns the reasons.
func (t *Table) Example(command string) (facts string, understood bool) {
	words := split(Word{Text: command})
	if len(words) == 0 {
		return "there is no program", false
	}
	e := t.Of(words[0].Text, words[1:])
	if why := e.NotUnderstood(); len(why) > 0 {
		return strings.Join(why, ", "), false
	}
	return strings.Join(e.Facts(), ", "), true
}

// NotUnderstood returns why the effect is unknown.
func (e Effect) NotUnderstood() []string {
	if !e.Known {
		return []string{"no row describes this program"}
	}
	why := slices.Clone(e.Unsure)
	if slices.Contains(e.Tags, "unlisted-sub") {
		why = append(why, "unknown subcommand "+e.Sub)
	}
	return why
}

// Facts returns the effect, each part in a few words.
func (e Effect) Facts() []string {
	var list []string
	for _, t := range e.Touches {
		list = append(list, t.Op+" "+t.Word.display())
	}
	for _, f := range e.Fetches {
		list = append(list, f.Method+" "+f.Word.display())
	}
	for _, r := range e.Runs {
		words := []string{"run"}
		for _, w := range r.Argv {
			words = append(words, w.display())
		}
		if len(r.Argv) == 0 {
			words = []string{"shell", r.Code.display()}
		}
		list = append(list, strings.TrimSpace(strings.Join(words, " ")))
	}
	list = append(list, e.Tags...)
	for mark, is := range map[string]bool{"code": e.Inline, "stdin-code": e.ReadsCode, "stdin": e.ReadsIn &&
		!e.ReadsCode, "changes": e.Changes} {
		if is {
			list = append(list, mark)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// display returns the text, with … for an unknown part.
func (w Word) display() string {
	if w.Dynamic {
		return w.Text + "…"
	}
	return w.Text
}
