package ruleset

import "strings"

// continued puts line continuations into a text.
func (m *textMaker) continued(text string) string {
	for range 1 + m.rng.IntN(3) {
		at := m.rng.IntN(len(text) + 1)
		text = text[:at] + "\\\n" + text[at:]
	}
	return text
}

// special are the characters and words that mean something to a shell.
var special = []string{
	"'", `"`, "`", "$", "\\", "\n", " ", "\t", ";", "&", "|", "(", ")", "{", "}", "<", ">", "#", "!", "*",
	"?", "[", "]", "=", "~", "-", "+", "@", "%", "^", ":", "/", ",", ".", "0", "1", "a", "z", "\r",
	"$(", "${", "$((", "))", "<<", "<<<", ">&", "<&", "&&", "||", ";;", "|&", "&>", ">|", "<>", "<(", ">(",
	"[[", "]]", "((", "\\\n", "$'", `$"`, "zz", "E", "\nE\n", " -c ", " -- ", "do", "done", "then", "fi",
	"esac", "in", "function ", "coproc ", "time ", "eval ", "sh ", "exec ",
}

// mutated changes one place of a text.
func (m *textMaker) mutated(text string) string {
	if text == "" {
		return one(m, special)
	}
	at := m.rng.IntN(len(text))
	switch m.rng.IntN(5) {
	case 0: // lose a byte
		return text[:at] + text[at+1:]
	case 1: // twice
		end := min(len(text), at+1+m.rng.IntN(6))
		return text[:end] + text[at:]
	case 2: // replaced
		return text[:at] + one(m, special) + text[at+1:]
	case 3: // swapped halves
		return text[at:] + one(m, special) + text[:at]
	}
	return text[:at] + one(m, special) + text[at:]
}

// soup is a few tokens that make no sense.
func (m *textMaker) soup() string {
	var b strings.Builder
	for range 1 + m.rng.IntN(5) {
		b.WriteString(one(m, special))
	}
	b.WriteString(m.pick("\n", ";", " ", ""))
	return b.String()
}
