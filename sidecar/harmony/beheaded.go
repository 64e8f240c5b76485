package harmony

import (
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// GoesOn says whether a header goes on behind its channel, or its recipient: with blanks, and the token of a
// content type or a message; behind a recipient also with that of a channel on which calls are made.
func (g *Grammar) GoesOn(rest string, named, eof bool) scan.Verdict {
	n := scan.SkipBlanks(rest, 0)
	switch {
	case n == len(rest):
		return scan.WaitUnless(eof)
	case !g.Alphabet.Leads(rest[n]):
		return scan.No
	}
	switch f, is := g.Alphabet.At(rest[n:], eof); {
	case is != scan.Yes || f.Token.InHeader():
		return is
	case named && f.Token == Channel:
		channel, is := scan.StartsAny(rest[n+f.N:], g.Words.Channels, eof)
		if channel != Final {
			return is
		}
	}
	return scan.No
}

// Beheaded says whether v begins within a header whose beginning was lost, or stood in the prompt: with the
// name of a tool, v[n:], and behind it the tokens of a header. may says that a word may become such a name.
func (g *Grammar) Beheaded(v string, named, may func(string) bool, eof bool) (n int, is scan.Verdict) {
	if v[0] == '=' || v[0] == '.' { // of to=functions.
		n++
	}
	end := scan.NameEnd(v, n)
	switch {
	case end == len(v) && !eof && (end == n || may(v[n:end])):
		return n, scan.Wait
	case end == n || !named(v[n:end]):
		return n, scan.No
	}
	i := scan.SkipBlanks(v, end)
	kind, is := scan.StartsAny(v[i:], g.Words.Types, eof)
	if is != scan.Wait {
		is = g.GoesOn(v[i+len(kind):], true, eof)
	}
	return n, is
}
