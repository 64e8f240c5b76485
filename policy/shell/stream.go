package shell

import "strings"

// stream is what a command can read. Commands that share it read the same text.
type stream struct {
	Stdin
	code   bool   // the shell reads its own code from it
	fits   string // as in program.Word, of each of its words
	number bool   // each word is surely a number
}

func (s *stream) nextLine() (line string) {
	line, s.Text, _ = strings.Cut(s.Text, "\n")
	return line
}

// consume marks the stream as partly read.
func (s *stream) consume() { s.Known = s.Known && s.File == "/dev/null" }

// sink collects what commands write.
type sink struct {
	text   strings.Builder
	known  bool
	from   []string
	fits   string // as in program.Word, of each of its words
	number bool   // each word is surely a number
	used   bool   // something was written
}

// maxSinkBytes is how much text is followed through a pipe or a file.
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
	s.from = union(s.from, from)
}

func (s *sink) stream(kind string) *stream {
	return &stream{Stdin: Stdin{Kind: kind, Known: s.known, Text: s.text.String(), From: s.from},
		fits: s.fits, number: s.number}
}

func (s *sink) copy() *sink {
	out := &sink{}
	out.known = true
	out.write(s.text.String(), s.known, s.from...)
	return out
}

// collect runs something in a subshell and returns what it writes.
func (sh *shell) collect(run func(*shell)) *sink {
	sub := sh.fork()
	sub.out = &sink{known: true}
	run(sub)
	return sub.out
}
