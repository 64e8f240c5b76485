package shell

import (
	"strings"
)

// wordBuilder builds one word.
type wordBuilder struct {
	word
	text           strings.Builder
	exists         bool // even if it is empty
	pattern        bool // it has an unquoted pattern
	literalSpecial bool // it has a pattern character or a backslash that is no pattern
	fits           strings.Builder
	noFit          bool // fits is not valid
	mayVanish      bool // it has "$@" without values
	pieces         int
	notNumber      bool // a piece may be no number
}

const patternCharacters = `*?[]\`

// mark notes the pattern in unquoted text.
func (f *wordBuilder) mark(s string) {
	f.pattern = f.pattern || strings.ContainsAny(s, "*?[")
	f.literalSpecial = f.literalSpecial || strings.Contains(s, `\`)
}

// add appends a piece unchanged.
func (f *wordBuilder) add(w word) {
	if !f.Dynamic {
		if f.start = f.text.Len() + len(w.Text); w.Dynamic {
			f.start = f.text.Len() + w.start
		}
	}
	f.exists = true
	f.text.WriteString(w.Text)
	f.Dynamic = f.Dynamic || w.Dynamic
	f.Glob = f.Glob || w.Glob
	f.from = union(f.from, w.from)
	f.notNumber = f.notNumber || !w.number && !digits10(w.Text, w.Dynamic)
	f.pieces++
	fits := w.Text
	switch {
	case w.Dynamic:
		f.noFit = f.noFit || w.Fits == "" || w.Fits == listedName && f.pieces > 1
		fits = w.Fits
	case strings.ContainsAny(fits, "*\\?[{~\n "):
		f.noFit = true
	}
	f.noFit = f.noFit || f.fits.String() == listedName
	f.fits.WriteString(fits)
}

func digits10(s string, unknown bool) bool { return !unknown && strings.Trim(s, "0123456789#") == "" }

// put adds the result of an expansion.
func (x *expansion) put(w word, q quoting) {
	if q != unquoted || !x.split {
		special := strings.ContainsAny(w.Text, patternCharacters) && !w.Glob
		x.current.literalSpecial = x.current.literalSpecial || special
		x.current.add(w)
		return
	}
	if !x.sh.defaultIFS() {
		w.Dynamic = true
	}
	whole := w
	if strings.Contains(w.Text, `\`) {
		w.Dynamic = true // bash versions differ about them
	}
	rest := w.Text
	for rest != "" {
		i := strings.IndexAny(rest, " \t\n")
		if i == 0 {
			x.current.Dynamic = x.current.Dynamic || w.Dynamic
			x.endWord()
			rest = strings.TrimLeft(rest, " \t\n")
			continue
		}
		if i < 0 {
			i = len(rest)
		}
		w.Text = rest[:i]
		if w.Text != whole.Text {
			w.Fits, w.start = "", min(w.start, len(w.Text))
		}
		x.current.mark(w.Text)
		x.current.add(w)
		rest = rest[i:]
	}
	if w.Dynamic {
		w.Text, w.start = "", 0
		if strings.Trim(whole.Text, " \t\n") == "" {
			x.current.add(w)
		}
		x.current.Dynamic = true
	}
}

// putList adds the values of "$@" and its like, each as a word.
func (x *expansion) putList(values []word, unknown bool, q quoting, star bool) {
	if q != unquoted && star && x.split && len(values) == 0 && !unknown {
		x.put(word{}, q)
	}
	x.current.mayVanish = x.current.mayVanish || q != unquoted && len(values) == 0
	for i, w := range values {
		w.Dynamic = w.Dynamic || unknown
		if i > 0 {
			switch {
			case !x.split || q != unquoted && star:
				blank := literal(" ")
				blank.Dynamic = !x.sh.defaultIFS()
				x.put(blank, quoted)
			default:
				x.endWord()
			}
		}
		x.put(w, q)
	}
	if unknown && len(values) == 0 {
		x.put(unknownWord(""), q)
	}
}

// endWord finishes the current word.
func (x *expansion) endWord() {
	f := &x.current
	if f.exists {
		w := f.word
		w.Text = f.text.String()
		w.Glob = w.Glob || f.pattern && x.split && w.Text != "["
		w.Dynamic = w.Dynamic || w.Glob && f.literalSpecial
		w.Dynamic = w.Dynamic || f.mayVanish && w.Text == ""
		w.number = f.pieces > 0 && !f.notNumber
		w.Fits = ""
		if w.Dynamic {
			if !f.noFit {
				w.Fits = f.fits.String()
			}
			w.Begins = w.start > 0 || w.Fits == listedName
		}
		x.words = append(x.words, w)
	}
	x.current = wordBuilder{}
}
