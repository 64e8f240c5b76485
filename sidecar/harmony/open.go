package harmony

import (
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// A server may switch from one field to the next within a message.

const (
	maxSplitHeader = 160      // bytes that may be the rest of a header
	maxSplitBody   = 64 << 10 // bytes that may be the rest of a body
)

// open is the message that a text ends within.
type open struct {
	at    int  // where its header begins; -1: the text ends in none
	body  int  // where its body begins; -1: the text ends within the header
	token int  // where a token begins that the text ends within; -1: it ends in none
	words int  // where the words of the header begin
	from  From // and from where on they are
}

// Continues says that next goes on with a message that a text ends within, which begins at text[at:].
// known says that a name is that of a tool. It waits for at most 64 KiB of arguments, or for as much
// as the text has so far.
func (g *Grammar) Continues(text, next string, known func(name string) bool,
	eof bool) (at int, is scan.Verdict) {
	o := g.within(text)
	if o.token >= 0 {
		switch f, is := g.Alphabet.At(text[o.token:]+next, eof); {
		case is == scan.Wait:
			return 0, scan.Wait
		case f.N > len(text)-o.token && o.at < 0:
			return o.token, scan.Yes
		case f.N > len(text)-o.token:
			return o.at, scan.Yes
		}
	}
	switch {
	case o.at < 0, next == "" && eof && o.body < 0: // nothing goes on
		return 0, scan.No
	case o.body >= 0 && o.body < len(text):
		return o.at, g.intoBody(text, o, next, known, eof)
	}
	return o.at, g.toBody(text, o, next, known, eof)
}

// within is the message that a text ends within.
func (g *Grammar) within(text string) open {
	o := open{at: -1}
	for i := 0; ; {
		j, f, tail := g.Alphabet.Find(text, i, false)
		if o.token = -1; tail < len(text) {
			o.token = tail
		}
		if j < 0 {
			return o
		}
		i = j + f.N
		switch {
		case f.Token == Start, f.Token == Channel && (o.at < 0 || o.body >= 0):
			o = open{at: j, body: -1, token: -1, words: i, from: Behind(f.Token)}
		case f.Token.Closes():
			o.at = -1
		case f.Token == Message && o.at >= 0 && o.body < 0:
			o.body = i
		}
	}
}

// header is that of the open message, and whether a body stands behind it.
func (g *Grammar) header(text string, o open) (Header, bool) {
	h, _, is := g.Read(text[o.words:], o.from, true)
	return h, is == scan.Yes && (h.Stop == Message || h.Body)
}

// toBody says that next goes on with a header, or is the body behind it.
func (g *Grammar) toBody(text string, o open, next string, known func(string) bool, eof bool) scan.Verdict {
	near := next[:min(len(next), maxSplitHeader)]
	if at := strings.IndexByte(near, '{'); at >= 0 {
		near = near[:at+1]
	}
	switch h, whole := g.header(text+near, o); {
	case whole: // and none begins in it
		return scan.When(!strings.HasPrefix(h.Flaw, "doubled") && known(h.Recipient) || h.answers())
	case len(near) == len(next) && len(near) < maxSplitHeader:
		return scan.WaitUnless(eof)
	}
	return scan.No
}

// answers says that the message is the answer.
func (h *Header) answers() bool { return h.Channel == Final && h.Recipient == "" && h.Flaw == "" }

// intoBody says that next goes on with a body: with the answer, which it does not say again; or with
// arguments, and both together are an object, as JSON has it.
func (g *Grammar) intoBody(text string, o open, next string, known func(string) bool, eof bool) scan.Verdict {
	body := strings.TrimLeft(text[o.body:], " \n\r\t")
	h, whole := g.header(text, o)
	switch {
	case whole && h.answers() && body != "":
		is := scan.Starts(next, body, eof)
		if is == scan.Wait {
			return is
		}
		return scan.When(is == scan.No)
	case !whole, !known(h.Recipient), !strings.HasPrefix(body, "{"), len(next) > maxSplitBody:
		return scan.No
	}
	all, object := body+next, Scan{}
	if !strings.Contains(next, "}") || !object.Run(all, eof) {
		return scan.WaitUnless(eof)
	}
	return scan.When(object.End > len(body) && json.Valid([]byte(all[:object.End])))
}
