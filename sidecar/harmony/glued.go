package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Glued is what follows the word assistant that begins a header, and that may be glued to a text.
type Glued struct {
	Channel string // one of the channels
	Token   bool   // a control token: the word is the role of a header
	To      bool   // " to=": a recipient
	N       int    // bytes up to what the header goes on with
}

// Glued looks at "assistant" at the start of rest, followed by what makes it markup. glued says that
// it follows another word without a blank, known that a name is that of a tool.
func (g *Grammar) Glued(rest string, glued bool, known func(name string) bool,
	eof bool) (how Glued, is scan.Verdict) {
	is = scan.Starts(rest, Assistant, eof)
	if is != scan.Yes {
		return how, is
	}
	behind := rest[len(Assistant):]
	if is := scan.Starts(behind, Assistant, eof); is == scan.Yes {
		how, is = g.Glued(behind, glued, known, eof)
		how.N += len(Assistant)
		return how, is
	} else if is == scan.Wait && behind != "" {
		return how, is
	}
	if behind != "" && g.Alphabet.Leads(behind[0]) {
		f, is := g.Alphabet.At(behind, eof)
		if is == scan.Yes && f.Token != Channel && f.Token != Message {
			is = scan.No
		}
		return Glued{Token: true, N: len(Assistant)}, is
	}
	if c, is := scan.StartsAny(behind, g.Words.Channels, eof); is != scan.No {
		return Glued{Channel: c, N: len(Assistant) + len(c)}, is
	}
	const most = 12 // bytes of a slip in the channel
	n := 0
	for n < len(behind) && n < most && scan.IsLower(scan.Lower(behind[n])) {
		n++
	}
	if n == len(behind) && n < most {
		return Glued{To: true}, scan.WaitUnless(eof || !glued && n > 0)
	}
	is = scan.Starts(behind[n:], " to=", eof)
	switch {
	case glued || is != scan.Yes:
	case n > 0:
		is = scan.No
	default: // a sentence may go on so, but not with the name of a tool
		is = g.Addressed(behind[1:], known, eof)
	}
	return Glued{To: true, N: len(Assistant) + n + 1}, is
}

// Addressed says whether a header without tokens at the start of rest names a tool.
func (g *Grammar) Addressed(rest string, known func(name string) bool, eof bool) scan.Verdict {
	h, is := g.Bare(rest, known, eof)
	if is == scan.Yes && !known(h.Name) {
		return scan.No
	}
	return is
}

// Quote is the quote that a header ends in, which belongs to the body: json ="{…}"
func Quote(header string) string {
	for _, quote := range []string{`\"`, `"`} {
		if strings.HasSuffix(header, quote) {
			return quote
		}
	}
	return ""
}

// Closes is how many bytes of s close what a header opens in front of its body: json ="{…}", read({…})
func Closes(header, s string) int {
	for _, marks := range [...]string{`""`, "()"} {
		if strings.HasSuffix(header, marks[:1]) && strings.HasPrefix(s, marks[1:]) {
			return 1
		}
	}
	return 0
}
