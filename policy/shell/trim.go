package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// trimmed is ${x#p}, ${x##p}, ${x%p} and ${x%%p}, where p is a text, or a text with one *
// before or behind it.
func (v value) trimmed(op syntax.ParExpOperator, w *syntax.Word) word {
	cut := lit(w)
	text := strings.Trim(cut, "*")
	before, behind := text != "" && cut == "*"+text, text != "" && cut == text+"*"
	if v.Glob {
		return v.trimmedNames(op, cut)
	}
	if v.Dynamic || v.array || w != nil && text == "" || !before && !behind && cut != text || strings.ContainsAny(text, specials+`~"'$&(){}`) || !ascii(v.Text) || !ascii(text) {
		return v.blurred()
	}
	out := v.word
	out.Fits, out.number = "", false
	from, to := 0, len(out.Text)
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	switch {
	case op != syntax.RemSmallSuffix && op != syntax.RemLargeSuffix && !prefix:
		return v.blurred()
	case prefix && before:
		at := strings.Index(out.Text, text)
		if op == syntax.RemLargePrefix {
			at = strings.LastIndex(out.Text, text)
		}
		if at >= 0 {
			from = at + len(text)
		}
	case !prefix && behind:
		at := strings.LastIndex(out.Text, text)
		if op == syntax.RemLargeSuffix {
			at = strings.Index(out.Text, text)
		}
		if at >= 0 {
			to = at
		}
	case before || behind:
		return v.blurred()
	case prefix && strings.HasPrefix(out.Text, text):
		from = len(text)
	case !prefix && strings.HasSuffix(out.Text, text):
		to -= len(text)
	}
	out.Text = out.Text[from:to]
	return out
}

// trimmedNames cuts the names that a pattern stands for: an ending that all of them have,
// and the folder that they are in.
func (v value) trimmedNames(op syntax.ParExpOperator, cut string) word {
	out := v.word
	if cut == ".*" && op == syntax.RemSmallSuffix {
		cut = out.Text[max(0, strings.LastIndexByte(out.Text, '.')):]
	}
	folder := strings.LastIndexByte(out.Text, '/')
	switch {
	case out.Dynamic || strings.Contains(out.Text, "**"):
	case op == syntax.RemLargePrefix && cut == "*/" && folder < len(out.Text)-1:
		out.Text = out.Text[folder+1:]
		return out
	case op == syntax.RemSmallSuffix && strings.HasPrefix(cut, ".") && !strings.ContainsAny(cut, specials+`/'"$~`) && strings.HasSuffix(out.Text, "*"+cut):
		out.Text = strings.TrimSuffix(out.Text, cut)
		return out
	}
	return out.blurred()
}
