package harmony

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Grammar is what headers are read with. It is immutable.
type Grammar struct {
	Words    Words
	Alphabet *Alphabet
	Opening  []string        // tags that begin thoughts: <think>
	Closing  []string        // those that end them, in the same order
	all      map[string]bool // the words, but for those that name the recipient
	heads    [256][]string   // those that a header without tokens begins with, by their first byte
	begins   scan.Pairs      // their first two bytes
	bare     [256][]*Grammar // for replies whose tokens are words in brackets, by their first byte
	pair     Brackets
}

// Signs are what control tokens may be written with.
type Signs struct {
	TokenSigns
	Pairs []Brackets // in a reply with whole headers written so, they stand for <| and |>
}

// New makes a grammar of words and of signs that stand for those of control tokens.
func New(w Words, s Signs) *Grammar {
	g := &Grammar{Words: w, Alphabet: NewAlphabet(s.TokenSigns), all: map[string]bool{},
		begins: scan.NewPairs()}
	for _, word := range slices.Concat(w.Roles, w.Channels, w.Types, w.Between, w.Call) {
		g.all[word] = true
	}
	for _, word := range slices.Concat(w.Channels, w.Recipient) {
		g.heads[word[0]] = append(g.heads[word[0]], word)
		for b := range 256 { // behind a word of one letter, any
			if len(word) == 1 || word[1] == byte(b) {
				g.begins.Add(word[0], byte(b))
			}
		}
	}
	tags := w.Tags
	if len(tags) == 0 { // a rule folder of an earlier version
		tags = UsualWords().Tags
	}
	for _, tag := range tags {
		g.Opening, g.Closing = append(g.Opening, "<"+tag+">"), append(g.Closing, "</"+tag+">")
	}
	words := *g
	for _, pair := range s.Pairs {
		bare := words
		bare.Alphabet, bare.pair = g.Alphabet.Within(pair), pair
		g.bare[pair.Open[0]] = append(g.bare[pair.Open[0]], &bare)
	}
	return g
}

// Leads says that a header with tokens may begin with b.
func (g *Grammar) Leads(b byte) bool { return g.Alphabet.Leads(b) || g.bare[b] != nil }

// Bracketed is the grammar of a reply that begins with s, which is not empty, if that is a
// whole header whose tokens are words in brackets: [start]assistant[channel]final[message].
func (g *Grammar) Bracketed(s string, eof bool) (bare *Grammar, is scan.Verdict) {
	for _, bare := range g.bare[s[0]] {
		if is := bare.whole(s, eof); is != scan.No {
			return bare, is
		}
	}
	return nil, scan.No
}

// whole says that s begins with a header from its opener to its <|message|>; the end of
// another message may stand in front of it.
func (g *Grammar) whole(s string, eof bool) scan.Verdict {
	f, is := g.pair.At(s, eof)
	if is == scan.Yes && f.Token.Closes() {
		s = s[f.N:]
		f, is = g.pair.At(s, eof)
	}
	switch {
	case is == scan.Wait:
		return scan.Wait
	case is != scan.Yes || !f.Token.Opens():
		return scan.No
	}
	s = strings.TrimLeft(s[f.N:], " ")
	end, more := g.wordEnd(s, 0, eof)
	switch w := s[:end]; {
	case more && end <= len(Assistant)+len(Commentary):
		return scan.Wait
	case g.Words.Channel(w) == "" && !scan.AmongFold(w, g.Words.Roles):
		return scan.No
	}
	h, _, is := g.Read(s, Behind(f.Token), eof)
	if is == scan.Yes && h.Stop != Message && !(h.Recipient != "" && (h.Body || eof)) {
		return scan.No
	}
	return is
}

// Check says what of the words could not be told from prose, or nil.
func (ws *Words) Check() error {
	for name, words := range map[string][]string{"roles": ws.Roles, "channels": ws.Channels,
		"types": ws.Types, "recipient": ws.Recipient} {
		if len(words) == 0 {
			return fmt.Errorf("needs header.%s: the words of a header", name)
		}
	}
	for _, w := range slices.Concat(ws.Roles, ws.Channels, ws.Types, ws.Recipient, ws.Call, ws.Between,
		ws.Tags) {
		if len(w) < 2 || scan.WordEnd(w, 0) < len(w) || strings.ToLower(w) != w {
			return fmt.Errorf("%q cannot stand in header: it needs words of two small letters or more", w)
		}
	}
	return nil
}

// Knows says that a word belongs to headers, in small letters, capitals, or with one in front.
func (g *Grammar) Knows(w string) bool {
	const longest = 24
	return len(w) <= longest && (g.all[w] || w[0] < 'a' && g.all[strings.ToLower(w)])
}

// Heads says that s begins with a channel, or a word that names a recipient and the sign
// behind it, as far as it goes.
func (g *Grammar) Heads(s string) bool {
	if len(s) > 1 && !g.begins.Has(s[0], s[1]) {
		return false
	}
	for _, w := range g.heads[s[0]] {
		n := min(len(s), len(w))
		if s[:n] != w[:n] {
			continue
		}
		if !slices.Contains(g.Words.Recipient, w) {
			return true
		}
		i := scan.SkipBlanks(s, n)
		if i == len(s) || s[i] == '=' || s[i] == ':' || s[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// Begins says that a header without tokens may begin with b.
func (g *Grammar) Begins(b byte) bool { return len(g.heads[scan.Lower(b)]) > 0 || b == Assistant[0] }
