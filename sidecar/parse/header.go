package parse

import "strings"

// maxHeader is how many bytes a header may take; gpt-oss writes under 100.
const maxHeader = 512

// header is the part of a Harmony message before its body:
//
//	<|start|>assistant to=functions.exec<|channel|>commentary <|constrain|>json<|message|>
//
// Any part may be missing, doubled, misplaced or surrounded by noise.
type header struct {
	role      string
	channel   string
	recipient string
	constrain bool   // a content type was given
	rest      string // words that fit nowhere
	restAt    int    // where they begin in the header
	stop      token  // what ended it; noToken: the body began, or the input ended
	body      bool   // the body began without <|message|>
	stripped  bool   // no control token was seen
	text      string // the header as it was written, if it may be a quotation
	flaw      string // what was wrong with it; empty for a well-formed one
}

var channels = [...]string{"commentary", "analysis", "final"}

// parseHeader reads the header at the start of v. afterChannel says that the
// opener was <|channel|>. n is where the body begins.
func parseHeader(v string, afterChannel, eof bool) (h header, n int, is verdict) {
	wantChannel := afterChannel
	for i := 0; ; {
		i = skipSpace(v, i)
		if i >= len(v) {
			if eof {
				return h, len(v), yes
			}
			return h, 0, wait
		}
		if v[i] == '<' {
			tok, w, is := tokenAt(v[i:], eof)
			switch {
			case is == wait:
				return h, 0, wait
			case tok == messageToken || tok.closes():
				h.stop = tok
				return h, i + w, yes
			case tok == channelToken:
				if h.channel != "" {
					h.flaw = "doubled channel"
				}
				wantChannel = true
			case tok == constrainToken:
				h.constrain = true
			case tok == startToken:
				h, wantChannel = header{flaw: "doubled start"}, false
			}
			if is == yes {
				i += w
				continue
			}
		}
		if (v[i] == '{' || v[i] == '[') && (h.recipient != "" || h.channel != "") {
			h.body, h.flaw = true, "missing <|message|>"
			return h, i, yes
		}
		end, more := wordEnd(v, i, eof)
		if more {
			return h, 0, wait
		}
		if end == i {
			end++
		}
		h.word(v[i:end], i, &wantChannel)
		i = end
	}
}

// own makes the header independent of the text it was read from.
func (h *header) own() {
	h.role, h.channel = strings.Clone(h.role), strings.Clone(h.channel)
	h.recipient, h.rest = strings.Clone(h.recipient), strings.Clone(h.rest)
}

// wordEnd is the end of the header word at v[i:].
func wordEnd(v string, i int, eof bool) (end int, more bool) {
	for end = i; end < len(v); end++ {
		switch b := v[end]; {
		case isSpace(b), b == '{':
			return end, false
		case b == '<':
			if _, _, is := tokenAt(v[end:], eof); is != no {
				return end, is == wait
			}
		}
	}
	return end, !eof
}

// word sorts one word of a header into its place.
func (h *header) word(w string, at int, wantChannel *bool) {
	if i := strings.Index(w, "to="); i >= 0 && (i == 0 || channelWord(w[:i]) != "" || roleWord(w[:i])) {
		if i > 0 {
			h.word(w[:i], at, wantChannel)
		}
		h.recipient = w[i+3:]
		if h.recipient == "" {
			h.recipient = "="
		}
		return
	}
	switch {
	case h.recipient == "=": // "to= name"
		h.recipient = w
	case *wantChannel:
		*wantChannel = false
		h.channel = w
		if c := channelWord(w); c != "" && c != w {
			h.channel, h.flaw = c, "noise in the channel"
			if len(w) > len(c) && !isWord(w[len(c)]) && h.rest == "" {
				h.rest, h.restAt = w[len(c):], -1
			}
		}
	case h.role == "" && h.channel == "" && roleWord(w):
		h.role = w
	case h.role == "" && h.channel == "" && strings.HasPrefix(w, "assistant") && channelWord(w[len("assistant"):]) != "":
		h.role, h.channel, h.flaw = "assistant", channelWord(w[len("assistant"):]), "missing <|channel|>"
	case h.role == "" && h.channel == "" && h.recipient == "":
		h.role = w // functions.x speaking as a tool, or noise
	case contentType(w):
		h.constrain = true
	case w == h.channel || roleWord(w):
	default:
		if h.rest == "" {
			h.rest, h.restAt = w, at
		}
		h.flaw = "noise in the header"
	}
}

// channelWord is the channel that w begins with.
func channelWord(w string) string {
	c, _ := startsAny(w, channels[:], true)
	return c
}

func roleWord(w string) bool {
	switch w {
	case "assistant", "user", "system", "developer", "tool":
		return true
	}
	return false
}

func contentType(w string) bool {
	switch strings.TrimSuffix(w, ":") {
	case "json", "code", "text", "python", "response", "=":
		return true
	}
	return false
}
