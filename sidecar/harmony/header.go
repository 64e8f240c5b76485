package harmony

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Most bounds a header in bytes; gpt-oss writes under 100.
const Most = 512

// Header is the part of a Harmony message before its body:
//
//	<|start|>assistant to=functions.exec<|channel|>commentary <|constrain|>json<|message|>
//
// Any part may be missing, doubled, misplaced or surrounded by noise.
type Header struct {
	Role      string
	Channel   string
	Recipient string // "=" while the name is still expected
	Constrain bool   // a content type was given
	Rest      string // words that fit nowhere
	RestAt    int    // their start in the header; below 0: within a word
	Stop      Token  // the token that ended it; None: the body began, or the input ended
	StopN     int    // its length in bytes
	Exact     bool   // Stop is in the exact spelling
	Body      bool   // the body began without <|message|>
	Flaw      string // what is wrong with it; empty: nothing
}

// From is the part of a header at which a text begins.
type From uint8

const (
	FromStart     From = iota // at its beginning
	FromChannel               // behind <|channel|>
	FromRecipient             // at the name, behind a lost to=
)

// Behind returns the part behind an opener.
func Behind(opener Token) From {
	if opener == Channel {
		return FromChannel
	}
	return FromStart
}

// Read reads the header, or the rest of it, at the start of v. n is the start of the body.
func (g *Grammar) Read(v string, from From, eof bool) (h Header, n int, is scan.Verdict) {
	wantChannel := from == FromChannel
	if from == FromRecipient {
		h = Header{Recipient: "=", Flaw: "its beginning is missing"}
	}
	for i := 0; ; {
		i = skipGaps(v, i)
		if i >= len(v) {
			if eof {
				return h, len(v), scan.Yes
			}
			return h, 0, scan.Wait
		}
		if g.Alphabet.Leads(v[i]) {
			found, is := g.Alphabet.At(v[i:], eof)
			tok, w := found.Token, found.N
			switch {
			case is == scan.Wait, tok == Start && i+w == len(v) && !eof:
				return h, 0, scan.Wait
			case tok == Message || tok.Closes():
				h.Stop, h.StopN, h.Exact = tok, w, found.Exact
				return h, i + w, scan.Yes
			case tok == Channel:
				if h.Channel != "" {
					h.Flaw = "doubled channel"
				}
				wantChannel = true
			case tok == Constrain:
				h.Constrain = true
			case tok == Start && i+w < len(v) && scan.IsWord(v[i+w]) && !scan.AmongFold(scan.Name(v[i+w:]),
				g.Words.Types): // or it has slipped in
				h, wantChannel = Header{Flaw: "doubled start"}, false
			}
			if is == scan.Yes {
				i += w
				continue
			}
		}
		if (v[i] == '{' || v[i] == '[') && (h.Recipient != "" || h.Channel != "") {
			h.Body, h.Flaw = true, "missing <|message|>"
			return h, i, scan.Yes
		}
		end, more := g.wordEnd(v, i, eof)
		if more {
			return h, 0, scan.Wait
		}
		if end == i {
			end++
		}
		g.place(&h, v[i:end], i, &wantChannel)
		i = end
	}
}

// Own copies the strings of the header.
func (h *Header) Own() {
	h.Role, h.Channel = strings.Clone(h.Role), strings.Clone(h.Channel)
	h.Recipient, h.Rest = strings.Clone(h.Recipient), strings.Clone(h.Rest)
}

// wordEnd returns the end of the header word at v[i:].
func (g *Grammar) wordEnd(v string, i int, eof bool) (end int, more bool) {
	for end = i; end < len(v); end++ {
		switch b := v[end]; {
		case gapAt(v, end) > 0, b == '{':
			return end, false
		case g.Alphabet.Leads(b):
			if _, is := g.Alphabet.At(v[end:], eof); is != scan.No {
				return end, is == scan.Wait
			}
			if end > i && strings.HasPrefix(v[end:], "<|") { // an unknown token
				return end, false
			}
		}
	}
	return end, !eof
}

// place assigns one word of a header to its field.
func (g *Grammar) place(h *Header, w string, at int, wantChannel *bool) {
	words := &g.Words
	if w = strings.Trim(w, scan.Invisible); w == "" {
		return
	}
	if front, name, ok := words.recipient(w); ok {
		if front != "" {
			g.place(h, front, at, wantChannel)
		}
		// the name precedes
		if h.Recipient != "" && h.Recipient != "=" && (name == "" || name+"." == Namespace ||
			scan.AmongFold(name, words.Types)) {
			return
		}
		if h.Recipient = name; name == "" {
			h.Recipient = "="
		}
		return
	}
	switch {
	case h.Recipient == "=": // "to= name", "to = name"
		if _, n := signAt(w, 0); n < len(w) {
			h.Recipient = strings.Trim(w[n:], "\"'`")
		}
	case h.Recipient == "" && h.Channel != "" && h.Rest == "" && scan.AmongFold(w, words.Recipient):
		h.Recipient = "="
	case *wantChannel:
		*wantChannel = false
		if h.Channel != "" && words.Channel(h.Channel) == "" && h.Rest == "" { // the first one was none
			h.Rest = h.Channel
		}
		if h.Channel = w; h.Rest == "" && words.Channel(w) == "" {
			h.RestAt = at
		}
		if c := words.Channel(w); c != "" && c != w {
			h.Channel, h.Flaw = c, "noise in the channel"
			if rest := w[len(c):]; h.Rest == "" && rest != "" && (!scan.IsWord(rest[0]) ||
				strings.HasPrefix(rest, Namespace)) {
				h.Rest, h.RestAt = rest, -1
			}
		}
	case h.Role == "" && h.Channel == "" && scan.AmongFold(w, words.Roles):
		h.Role = w
	case h.Role == "" && h.Channel == "" && strings.HasPrefix(w, Assistant) &&
		words.Channel(w[len(Assistant):]) != "":
		h.Role, h.Channel, h.Flaw = Assistant, words.Channel(w[len(Assistant):]), "missing <|channel|>"
	case h.Role == "" && h.Channel == "" && h.Recipient == "" &&
		!(h.Constrain && scan.AmongFold(w, words.Types)):
		h.Role = w // functions.x speaking as a tool, or noise
	case w == "=", w == ":", scan.AmongFold(strings.TrimRight(w, ":="), words.Types):
		h.Constrain = true
	case h.Recipient != "" && words.Outsider(w):
		h.Role = w // behind the recipient, too, it says whose message it is
	case w == h.Channel || scan.AmongFold(w, words.Roles):
	default:
		if h.Rest == "" {
			h.Rest, h.RestAt = w, at
		}
		h.Flaw = "noise in the header"
	}
}

// Grammar is what headers are read with. It is immutable.
type Grammar struct {
	Words    Words
	Alphabet *Alphabet
	Opening  []string        // tags that begin thoughts: <think>
	Closing  []string        // tags that end them, in the same order
	all      map[string]bool // header words, except those for the recipient
	heads    [256][]string   // first words of headers without tokens, by their first byte
	begins   scan.Pairs      // their first two bytes
	bare     [256][]*Grammar // for replies with words in brackets as tokens, by first byte
	pair     Brackets
}

// Signs are other spellings of control tokens.
type Signs struct {
	TokenSigns
	Pairs []Brackets // replace <| and |> in a reply with whole headers
}

// New returns the grammar of words and signs.
func New(w Words, s Signs) *Grammar {
	g := &Grammar{Words: w, Alphabet: NewAlphabet(s.TokenSigns), all: map[string]bool{},
		begins: scan.NewPairs()}
	for _, word := range slices.Concat(w.Roles, w.Channels, w.Types, w.Between, w.Call) {
		g.all[word] = true
	}
	for _, word := range slices.Concat(w.Channels, w.Recipient) {
		g.heads[word[0]] = append(g.heads[word[0]], word)
	}
	for _, word := range slices.Concat(w.Channels, w.Recipient, w.Roles, []string{Assistant}) {
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

// Leads reports whether a header with tokens may begin with b.
func (g *Grammar) Leads(b byte) bool { return g.Alphabet.Leads(b) || g.bare[b] != nil }

// Bracketed returns the grammar of a reply whose start s, not empty, is a whole header with words in
// brackets as tokens: [start]assistant[channel]final[message].
func (g *Grammar) Bracketed(s string, eof bool) (bare *Grammar, is scan.Verdict) {
	for _, bare := range g.bare[s[0]] {
		if is := bare.whole(s, eof); is != scan.No {
			return bare, is
		}
	}
	return nil, scan.No
}

// whole reports whether s begins with a header from its opener to its <|message|>; the end of another
// message may precede it.
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

// Check reports words that cannot be told from prose.
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

// Knows reports whether a word belongs to headers, in lower case, upper case, or capitalised.
func (g *Grammar) Knows(w string) bool {
	const longest = 24
	return len(w) <= longest && (g.all[w] || w[0] < 'a' && g.all[strings.ToLower(w)])
}

// Heads reports whether s begins with a channel, or a recipient word and its sign, as far as it goes.
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

// Begins reports whether a header without tokens may begin with s, which is not empty.
func (g *Grammar) Begins(s string) bool {
	a := scan.Lower(s[0])
	return (len(g.heads[a]) > 0 || s[0] == Assistant[0]) && (len(s) == 1 || g.begins.Has(a, scan.Lower(s[1])))
}
