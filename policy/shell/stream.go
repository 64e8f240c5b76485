package shell

import "strings"

// stream is what a command can read. Commands that share it take from the same text.
type stream struct {
	Stdin
	code   bool   // the shell reads its own code from it
	fits   string // as in program.Word, of each of its words
	number bool   // each of its words surely is a number
}

// next takes a line.
func (s *stream) next() (line string) {
	line, s.Text, _ = strings.Cut(s.Text, "\n")
	return line
}

// taken is called when a program has read some of it.
func (s *stream) taken() { s.Known = s.Known && s.File == "/dev/null" }

// sink collects what commands write.
type sink struct {
	text   strings.Builder
	known  bool
	from   []string
	fits   string // as in program.Word, of each of its words
	number bool   // each of its words surely is a number
	used   bool   // something was written
}

// maxSinkBytes bounds the text that is followed through a pipe or a file.
const maxSinkBytes = 64 << 10

func (s *sink) write(text string, known bool, from ...string) {
	if s == nil {
		return
	}
	if s.text.Len()+len(text) > maxSinkBytes {
		text, known = "", false
	}
	s.text.WriteString(text)
	s.used, s.fits, s.number = true, "", false
	s.known = s.known && known
	s.from = join(s.from, from)
}

func (s *sink) stream(kind string) *stream {
	return &stream{Stdin: Stdin{Kind: kind, Known: s.known, Text: s.text.String(), From: s.from},
		fits: s.fits, number: s.number}
}

// copy is another sink with the same text.
func (s *sink) copy() *sink {
	out := &sink{}
	out.known = true
	out.write(s.text.String(), s.known, s.from...)
	return out
}

// collect runs something in a subshell and gives what it writes.
func (sh *shell) collect(run func(*shell)) *sink {
	sub := sh.fork()
	sub.out = &sink{known: true}
	run(sub)
	return sub.out
}
