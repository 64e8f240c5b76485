package shell

import (
	"strings"
)

// field is a word while it is built.
type field struct {
	word
	text      strings.Builder
	some      bool // it is a word, even if it is empty
	pattern   bool // it holds a pattern that is not quoted
	asIs      bool // it holds such a character, or a backslash, that is none of a pattern
	fits      strings.Builder
	unfit     bool // it is not known what its text fits
	maybe     bool // "$@" without values is in it, and may leave nothing of it
	pieces    int
	otherwise bool // something in it is no number
}

// specials are what patterns are made of.
const specials = `*?[]\`

// mark notes the pattern in a text that is not quoted.
func (f *field) mark(s string) {
	f.pattern = f.pattern || strings.ContainsAny(s, "*?[")
	f.asIs = f.asIs || strings.Contains(s, `\`)
}

// add adds a piece as it is.
func (f *field) add(w word) {
	if !f.Dynamic {
		if f.start = f.text.Len() + len(w.Text); w.Dynamic {
			f.start = f.text.Len() + w.start
		}
	}
	f.some = true
	f.text.WriteString(w.Text)
	f.Dynamic = f.Dynamic || w.Dynamic
	f.Glob = f.Glob || w.Glob
	f.from = join(f.from, w.from)
	f.otherwise = f.otherwise || !w.number && !digits10(w.Text, w.Dynamic)
	f.pieces++
	fits := w.Text
	switch {
	case w.Dynamic:
		f.unfit = f.unfit || w.Fits == "" || w.Fits == listed && f.pieces > 1
		fits = w.Fits
	case strings.ContainsAny(fits, "*\\?[{~\n "):
		f.unfit = true
	}
	f.unfit = f.unfit || f.fits.String() == listed
	f.fits.WriteString(fits)
}

// digits10 tells whether a text consists of digits.
func digits10(s string, unknown bool) bool { return !unknown && strings.Trim(s, "0123456789#") == "" }

// put adds a piece that an expansion has made.
func (x *expansion) put(w word, q quoting) {
	if q != unquoted || !x.split {
		x.now.asIs = x.now.asIs || strings.ContainsAny(w.Text, specials) && !w.Glob
		x.now.add(w)
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
			x.now.Dynamic = x.now.Dynamic || w.Dynamic
			x.end()
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
		x.now.mark(w.Text)
		x.now.add(w)
		rest = rest[i:]
	}
	if w.Dynamic {
		w.Text, w.start = "", 0
		if strings.Trim(whole.Text, " \t\n") == "" {
			x.now.add(w)
		}
		x.now.Dynamic = true
	}
}

// list adds the values of "$@" and its like, each a word of its own.
func (x *expansion) list(values []word, unknown bool, q quoting, star bool) {
	if q != unquoted && star && x.split && len(values) == 0 && !unknown {
		x.put(word{}, q)
	}
	x.now.maybe = x.now.maybe || q != unquoted && len(values) == 0
	for i, w := range values {
		w.Dynamic = w.Dynamic || unknown
		if i > 0 {
			switch {
			case !x.split || q != unquoted && star:
				blank := literal(" ")
				blank.Dynamic = !x.sh.defaultIFS()
				x.put(blank, quoted)
			default:
				x.end()
			}
		}
		x.put(w, q)
	}
	if unknown && len(values) == 0 {
		x.put(guessed(""), q)
	}
}

// end ends the word that is being built.
func (x *expansion) end() {
	f := &x.now
	if f.some {
		w := f.word
		w.Text = f.text.String()
		w.Glob = w.Glob || f.pattern && x.split && w.Text != "["
		w.Dynamic = w.Dynamic || w.Glob && f.asIs
		w.Dynamic = w.Dynamic || f.maybe && w.Text == ""
		w.number = f.pieces > 0 && !f.otherwise
		w.Fits = ""
		if w.Dynamic {
			if !f.unfit {
				w.Fits = f.fits.String()
			}
			w.Begins = w.start > 0 || w.Fits == listed
		}
		x.done = append(x.done, w)
	}
	x.now = field{}
}
