package rulefile

import "strings"

// spot is the position of a rune: line and column from 1, in runes.
type spot struct{ line, col int }

// locate finds each rune of a YAML scalar in the raw lines: the scalar begins at line and col, which may be
// that of its tag or anchor, and decodes to value. The last spot, one more than there are runes, is the end
// of the value. It compares the raw text with the value rune by rune, through quotes, escapes, indentation
// and folding, and returns nil if they disagree.
func locate(lines []string, line, col int, value string) []spot {
	if line < 1 || line > len(lines) {
		return nil
	}
	start := walker{lines: lines, l: line - 1, cur: []rune(lines[line-1]), c: col - 1}
	if value == "" {
		return []spot{start.spot()}
	}
	start.properties()
	if start.openFlow() {
		return start.walk(value)
	}
	for indent, i := start.indentOf(value), 0; i <= maxIndent; indent, i = i, i+1 { // the likeliest first
		w := start
		w.openBlock(indent)
		if spots := w.walk(value); spots != nil {
			return spots
		}
	}
	return nil
}

// walk locates each rune of the value; nil: they disagree.
func (w *walker) walk(value string) []spot {
	spots := make([]spot, 0, len(value)+1)
	for _, r := range value {
		at, ok := w.next(r)
		if !ok {
			return nil
		}
		spots = append(spots, at)
	}
	return append(spots, w.spot())
}

// walker is a position in the raw text.
type walker struct {
	lines  []string
	cur    []rune // lines[l]
	l, c   int    // from 0
	style  rune   // 0 for plain, else the opening ' " | or >
	indent int    // of a block
	breaks int    // newlines of the value left from empty lines
}

func (w *walker) spot() spot { return spot{w.l + 1, w.c + 1} }

func (w *walker) peek() rune {
	if w.c < len(w.cur) {
		return w.cur[w.c]
	}
	return '\n'
}

// newline moves to the next line, behind the indentation of a block.
func (w *walker) newline() bool {
	if w.l+1 >= len(w.lines) {
		return false
	}
	w.l++
	w.cur = []rune(w.lines[w.l])
	w.c = min(w.indent, len(w.cur))
	return true
}

func (w *walker) blanks() {
	for w.c < len(w.cur) && (w.cur[w.c] == ' ' || w.cur[w.c] == '\t') {
		w.c++
	}
}

// onlyBlanks reports whether the rest of the line is blank.
func (w *walker) onlyBlanks() bool {
	return isBlank(string(w.cur[min(w.c, len(w.cur)):]))
}

// isBlank reports whether a line holds only YAML blanks.
func isBlank(s string) bool { return strings.Trim(s, " \t") == "" }

// properties skips a tag and an anchor before the scalar, and comments behind them.
func (w *walker) properties() {
	for skipped := false; ; skipped = true {
		w.blanks()
		r := w.peek()
		switch {
		case w.c >= len(w.cur) || r == '#' && skipped:
			if !w.newline() {
				return
			}
		case r == '&':
			for w.c++; w.c < len(w.cur) && isAnchor(w.cur[w.c]); {
				w.c++
			}
		case r == '!':
			for w.c < len(w.cur) && w.cur[w.c] != ' ' && w.cur[w.c] != '\t' {
				w.c++
			}
		default:
			return
		}
	}
}

func isAnchor(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// openFlow moves to the first rune of a plain or quoted text. It returns false for a block.
func (w *walker) openFlow() bool {
	switch r := w.peek(); r {
	case '\'', '"':
		w.style = r
		w.c++
	case '|', '>':
		w.style = r
		return false
	}
	return true
}

// openBlock moves to the first line of a block.
func (w *walker) openBlock(indent int) {
	w.indent = indent
	w.newline()
}

// maxIndent is the largest indentation tried for a block that does not begin with it.
const maxIndent = 64

// indentOf returns the likely indentation of a block: that of the file less that of the value. A block that
// begins with blanks may have another.
func (w *walker) indentOf(value string) int {
	for _, raw := range w.lines[w.l+1:] {
		if !isBlank(raw) {
			return max(0, indentWidth(raw)-indentWidth(firstText(value)))
		}
	}
	return 0
}

func indentWidth(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// firstText returns the first line that is not blank.
func firstText(s string) string {
	for l := range strings.SplitSeq(s, "\n") {
		if !isBlank(l) {
			return l
		}
	}
	return ""
}

// next consumes the raw text of r and returns its position.
func (w *walker) next(r rune) (spot, bool) {
	if w.style == '|' || w.style == '>' {
		return w.inBlock(r)
	}
	return w.inFlow(r)
}

// inBlock reads literal and folded text: as written, but a folded line break may be a space, and folding
// drops blank lines.
func (w *walker) inBlock(r rune) (spot, bool) {
	blank := r == '\n' || r == ' '
	if !blank || w.style == '>' && r == ' ' && w.c < len(w.cur) {
		for w.c >= len(w.cur) {
			if !w.newline() {
				return spot{}, false
			}
		}
	}
	at := w.spot()
	switch {
	case w.c < len(w.cur) && w.cur[w.c] == r:
		w.c++
	case w.c >= len(w.cur) && blank:
		w.newline()
	default:
		return spot{}, false
	}
	return at, true
}

// inFlow reads plain and quoted text. A line break with the blanks around it is one space; if empty lines
// follow, each is one newline instead.
func (w *walker) inFlow(r rune) (spot, bool) {
	for w.breaks == 0 && w.escapedBreak() {
		if !w.newline() {
			return spot{}, false
		}
		w.blanks()
		if w.onlyBlanks() {
			w.breaks = w.emptyLines(w.l)
		}
	}
	if w.breaks == 0 && w.onlyBlanks() {
		if w.breaks = w.emptyLines(w.l + 1); w.breaks == 0 {
			at := w.spot()
			return at, r == ' ' && w.newlineAndBlanks()
		}
	}
	if w.breaks > 0 {
		at := w.spot()
		ok := r == '\n' && w.newlineAndBlanks()
		for w.breaks--; ok && w.breaks == 0 && w.onlyBlanks(); {
			ok = w.newlineAndBlanks()
		}
		return at, ok
	}
	at := w.spot()
	switch raw := w.cur[w.c]; {
	case w.style == '\'' && raw == '\'':
		if r != '\'' || w.c+1 >= len(w.cur) || w.cur[w.c+1] != '\'' {
			return spot{}, false
		}
		w.c += 2
	case w.style == '"' && raw == '\\':
		w.c += escapeWidth(w.cur[w.c+1])
	case raw == r:
		w.c++
	default:
		return spot{}, false
	}
	return at, true
}

func (w *walker) newlineAndBlanks() bool {
	if !w.newline() {
		return false
	}
	w.blanks()
	return true
}

// emptyLines counts empty lines from one on.
func (w *walker) emptyLines(from int) (n int) {
	for from+n < len(w.lines) && isBlank(w.lines[from+n]) {
		n++
	}
	return n
}

// escapedBreak reports a backslash at the end of a line, which the value drops.
func (w *walker) escapedBreak() bool {
	return w.style == '"' && w.c == len(w.cur)-1 && w.cur[w.c] == '\\'
}

// escapeWidth is the length of the escape of a backslash and r.
func escapeWidth(r rune) int {
	switch r {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}
