package program

import "strings"

// Word is one argument, as far as it is known.
type Word struct {
	Text    string
	Dynamic bool   // a part is only known at run time, and missing in Text
	Glob    bool   // the shell replaces it by matching files
	Fits    string // with Dynamic: a pattern of paths that it surely matches; empty: unknown
	Many    bool   // with Dynamic: it may be several words, or none
	Begins  bool   // with Dynamic: it surely starts with Text, so the missing part cannot make it an option
}

// withText returns a part of a word.
func withText(w Word, text string) Word {
	w.Text = text
	w.Begins, w.Fits = w.Begins && text != "", ""
	return w
}

// inFolder returns a file in a folder.
func inFolder(folder, w Word) Word {
	if strings.HasPrefix(w.Text, "/") && (!w.Dynamic || w.Begins) {
		return w
	}
	if folder.Text == "" && !folder.Dynamic {
		return w
	}
	if w.Text == "" && !w.Dynamic {
		return folder
	}
	w.Text, w.Fits = strings.TrimSuffix(folder.Text, "/")+"/"+w.Text, ""
	w.Dynamic, w.Glob = w.Dynamic || folder.Dynamic, w.Glob || folder.Glob
	w.Begins = folder.Begins || !folder.Dynamic
	return w
}

// split splits a word as a shell does, for programs that do so themselves.
func split(w Word) []Word {
	var list []Word
	var b strings.Builder
	quote, inside := byte(0), false
	for i := 0; i < len(w.Text); i++ {
		switch x := w.Text[i]; {
		case x == '\\' && quote != '\'' && i+1 < len(w.Text):
			i++
			inside = true
			b.WriteByte(w.Text[i])
		case quote != 0 && x == quote:
			quote = 0
		case quote == 0 && (x == '\'' || x == '"'):
			quote, inside = x, true
		case quote == 0 && (x == ' ' || x == '\t' || x == '\n'):
			if inside {
				list = append(list, Word{Text: b.String(), Dynamic: w.Dynamic})
			}
			b.Reset()
			inside = false
		default:
			inside = true
			b.WriteByte(x)
		}
	}
	if inside || w.Dynamic {
		list = append(list, Word{Text: b.String(), Dynamic: w.Dynamic})
	}
	return list
}

// join makes a shell line of words, as ssh and watch do.
func join(list []Word) Word {
	if len(list) == 1 {
		return list[0]
	}
	var b strings.Builder
	var all Word
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
		all.Dynamic, all.Glob = all.Dynamic || w.Dynamic, all.Glob || w.Glob
	}
	all.Text = b.String()
	return all
}
