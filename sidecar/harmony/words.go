package harmony

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Words are the words of a Harmony header, by what they are. Rule files hold them; they are
// the part header of the strategy harmony, which the tags describe. All are small letters.
type Words struct {
	Roles     []string `rule:"roles" doc:"Who speaks." eg:"[assistant, user, system, developer, tool]"`
	Channels  []string `rule:"channels" doc:"The channels. What begins with one is it, with noise behind." eg:"[analysis, commentary, final]"`
	Types     []string `rule:"types" doc:"Content types." eg:"[json, code, text]"`
	Recipient []string `rule:"recipient" doc:"Words that name the recipient, before = or a colon." eg:"[to, recipient]"`
	Call      []string `rule:"call" doc:"Words in front of a call." eg:"[call, tool]"`
	Tags      []string `rule:"tags" doc:"Tags that thoughts stand between, where the request speaks of none." eg:"[think, reasoning]"`
	Between   []string `rule:"between" doc:"Words that may stand between the recipient and the arguments." eg:"[arguments, args]"`
}

// Leftover says whether w may be left of a header that lost its tokens and its recipient: a channel on which
// calls are made, a content type, or both in one word, maybe behind "assistant".
func (ws *Words) Leftover(w string) (channel bool, is scan.Verdict) {
	rest, more := w, false
	for i, list := range [...][]string{{Assistant}, ws.Channels, ws.Types} {
		for _, word := range list {
			more = more || len(rest) < len(word) && strings.HasPrefix(word, rest)
			if behind, ok := strings.CutPrefix(rest, word); ok && word != Final {
				rest, channel = behind, channel || i == 1
				break
			}
		}
	}
	if rest == "" && w != "" && w != Assistant {
		return channel, scan.Yes
	}
	return channel, scan.WaitUnless(!more)
}

// endsFold says that w ends with a word, in any case.
func endsFold(w, word string) bool {
	return len(w) >= len(word) && strings.EqualFold(w[len(w)-len(word):], word)
}

// recipient splits a word of a header that names the recipient: to=NAME, also with a role or
// a channel glued in front. The name is empty where it is a word of its own.
func (ws *Words) recipient(w string) (front, name string, ok bool) {
	if token, is := strings.CutPrefix(w, "<|"); is { // a token that Harmony does not have: <|recipient|>NAME
		word, name, ok := strings.Cut(token, "|>")
		return "", name, ok && scan.AmongFold(word, ws.Recipient)
	}
	for i := range w {
		_, n := signAt(w, i)
		if n == 0 {
			continue
		}
		for _, word := range ws.Recipient {
			if front = w[:max(0, i-len(word))]; endsFold(w[:i], word) &&
				(front == "" || scan.AmongFold(front, ws.Roles) || ws.Channel(front) != "" ||
					ws.nearChannel(front)) {
				return front, strings.Trim(w[i+n:], "\"'`"), true
			}
		}
		return "", "", false
	}
	return "", "", false
}

// nearChannel says that w is a channel with one slip.
func (ws *Words) nearChannel(w string) bool {
	return slices.ContainsFunc(ws.Channels,
		func(c string) bool { return len(w) > 4 && Near(strings.ToLower(w), c) })
}

// Channel is the channel that w begins with, or "".
func (ws *Words) Channel(w string) string {
	for _, c := range ws.Channels {
		if scan.StartsFold(w, c, true) == scan.Yes {
			return c
		}
	}
	return ""
}

// Glued is the channel that s begins with, glued to a text, or "".
func (ws *Words) Glued(s string) string {
	c := ws.Channel(s)
	if first, _ := utf8.DecodeRuneInString(s[len(c):]); unicode.IsUpper(first) {
		return c
	}
	return ""
}

// Last is where the last header begins that names a recipient and lost its tokens, or -1. What a
// model plans to write stands before what it writes.
func (ws *Words) Last(text string) int {
	at := -1
	for _, w := range ws.Recipient {
		at = max(at, strings.LastIndex(text, w+"="))
	}
	if at < 0 {
		return -1
	}
	before := text[:at]
	for _, words := range [...][]string{ws.Channels, {Assistant}} {
		trimmed := strings.TrimRight(before, " ")
		for _, w := range words {
			if strings.HasSuffix(trimmed, w) {
				before = trimmed[:len(trimmed)-len(w)]
			}
		}
	}
	return len(before)
}

// The words of the format by which a reader decides. Rule files say which others may stand in a header.
// https://github.com/openai/harmony/blob/main/docs/format.md
const (
	Assistant  = "assistant"  // the role that a reply is written in
	Analysis   = "analysis"   // the channel of thoughts
	Commentary = "commentary" // the channel of calls, and of what is said in front of them
	Final      = "final"      // the channel of the answer
	Namespace  = "functions." // stands in front of the names of gpt-oss's tools
	Addressee  = " to=" + Namespace
)

// Token is one of the control tokens.
// https://github.com/openai/harmony/blob/main/docs/format.md
type Token uint8

// The control tokens.
const (
	None Token = iota
	Start
	Channel
	Message
	Constrain
	End
	Call
	Return
)

var words = [...]string{Start: "start", Channel: "channel", Message: "message", Constrain: "constrain",
	End: "end", Call: "call", Return: "return"}

// others are words between <| and |> that stand for a token, too: those in the vocabulary of a
// server that knows their numbers only, and those of models that came before.
// https://github.com/openai/harmony/blob/main/docs/format.md
// https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py
var others = [...]struct {
	word  string
	token Token
}{
	{"reserved_200006", Start}, {"reserved_200005", Channel}, {"reserved_200008", Message}, {"reserved_200003", Constrain},
	{"reserved_200007", End}, {"reserved_200012", Call}, {"reserved_200002", Return},
	{"im_start", Start}, {"im_sep", Message}, {"im_end", Return}, {"endoftext", Return}, {"endofprompt", Return},
	{"fim_prefix", Return}, {"fim_middle", Return}, {"fim_suffix", Return},
}

// UsualWords are those of gpt-oss, for rule folders that do not name any.
// https://github.com/openai/harmony/blob/main/docs/format.md
func UsualWords() Words {
	return Words{
		Roles:     []string{Assistant, "user", "system", "developer", "tool"},
		Channels:  []string{Analysis, Commentary, Final},
		Types:     []string{"json", "code", "text", "python", "response"},
		Recipient: []string{"to", "recipient", "recipient_name"},
		Call:      []string{"call", "tool", "function", "invoke", "use", "tool_call", "function_call"},
		Tags:      []string{"think", "thinking", "thought", "thoughts", "reasoning"},
		Between: []string{"arguments", "args", "parameters", "input", "body", "constrain", "message",
			"channel"},
	}
}

// Outsider says that a role cannot call tools: it is the user, the system or the developer. A tool only
// answers, but its role stands where models lost their own.
func (ws *Words) Outsider(role string) bool {
	return scan.AmongFold(role, ws.Roles) && !strings.EqualFold(role, Assistant) &&
		!strings.EqualFold(role, "tool")
}

// Foreign says that another than the assistant speaks: an outsider, or a tool that answers.
func (ws *Words) Foreign(h *Header) bool {
	switch {
	case h.Role == "" || strings.EqualFold(h.Role, Assistant):
		return false
	case h.Recipient == Assistant || ws.Outsider(h.Role):
		return true
	}
	return h.Recipient == "" && scan.AmongFold(h.Role, ws.Roles)
}

// Echo says that a message of another role may be one of the request, given once more: it has no channel and
// no recipient, and a user's is part of what the user said last, if that is known; said is that, or its
// beginning.
func (ws *Words) Echo(h *Header, body, said string) bool {
	const long = 1 << 10 // of what is longer, only the beginning may be known
	switch {
	case !ws.Outsider(h.Role):
		return true
	case h.Channel != "" || h.Recipient != "":
		return false
	case said == "" || !strings.EqualFold(h.Role, "user"):
		return true
	}
	body, said = strings.Join(strings.Fields(body), " "), strings.Join(strings.Fields(said), " ")
	return strings.Contains(said, body) || len(said) > long && strings.HasPrefix(body, said)
}

// ToChannel is the channel that a header without tokens names as its recipient, and where its body
// begins in rest, behind a content type which may be glued to it: to=final codeHello
func (ws *Words) ToChannel(rest, name string, end int, named func(string) bool) (channel string, body int) {
	if !scan.AmongFold(name, ws.Channels) || named(name) {
		return "", end
	}
	i := scan.SkipBlanks(rest, end)
	if kind, is := scan.StartsAny(rest[i:], ws.Types, true); i > end && is == scan.Yes &&
		!(i+len(kind) < len(rest) && scan.IsLower(rest[i+len(kind)])) {
		end = i + len(kind)
	}
	return strings.ToLower(name), end
}

// Address sorts out a recipient that is none: a channel, unless a tool has that name.
func (ws *Words) Address(h *Header, named func(string) bool) {
	to := strings.TrimPrefix(h.Recipient, Namespace)
	if scan.AmongFold(to, ws.Channels) && !named(h.Recipient) {
		h.Channel, h.Recipient, h.Flaw = strings.ToLower(to), "", "the channel as the recipient"
	}
}

// Peel finds the name of a tool that damage has glued to other words of the header. A role that is one says
// who speaks.
func (ws *Words) Peel(h *Header, named func(string) bool) {
	for _, w := range [...]string{h.Recipient, h.Rest, h.Channel, h.Role} {
		if name := ws.peeled(w, named); name != "" && (w != h.Role || w != name && w != Namespace+name) {
			h.Recipient, h.Flaw = name, "a name that is glued to other words"
			return
		}
	}
}

// peeled is the name that is left of a damaged word, behind other words of a header and signs that are glued
// to it: tofunctions.exec, commentary=exec. It is "" where none is named.
func (ws *Words) peeled(w string, named func(string) bool) string {
	for w != "" && !named(w) {
		rest := strings.TrimLeft(w, " =.:")
		space := []string{strings.TrimSuffix(Namespace, ".")}
		for _, words := range [...][]string{ws.Channels, ws.Roles, ws.Recipient, space} {
			for _, word := range words {
				if rest == w {
					rest = strings.TrimPrefix(w, word)
				}
			}
		}
		if rest == w {
			return ""
		}
		w = rest
	}
	return w
}

// closesQuote may stand behind something that is quoted.
const closesQuote = ".,;:!?)\"'”’»`"

// Sentence says that rest, behind a control token, is the rest of a sentence, and no header: it
// begins with what closes a quotation, or with a word in small letters that no header knows.
func (w *Words) Sentence(rest string, eof bool) scan.Verdict {
	i := scan.SkipBlanks(rest, 0)
	first, _ := utf8.DecodeRuneInString(rest[i:])
	switch {
	case !utf8.FullRuneInString(rest[i:]):
		return scan.WaitUnless(eof)
	case strings.ContainsRune(closesQuote, first):
		return scan.Yes
	case i == 0 || !unicode.IsLetter(first) || unicode.IsUpper(first):
		return scan.No
	}
	n := scan.WordEnd(rest, i)
	if n == len(rest) && !eof {
		return scan.Wait
	}
	if word := rest[i:n]; w.Channel(word) != "" || scan.AmongFold(word, w.Roles, w.Recipient, w.Types) {
		return scan.No
	}
	return scan.Yes
}

// Shadow says that a text goes on as the header of another message, without control tokens: the
// model lost its way, and what follows is not meant for whom the text is for. known says that a
// name is that of a tool. Seen of larger models that write the same format:
// https://github.com/whycorporation/whycodes/issues/110.
func (g *Grammar) Shadow(text string, known func(name string) bool) bool {
	for {
		before, behind, more := strings.Cut(text, Addressee)
		if !more {
			return false
		}
		from := len(before)
		for from > 0 && scan.IsLower(before[from-1]) {
			from--
		}
		end := 0
		for end < len(behind) && scan.IsName(behind[end]) {
			end++
		}
		word := strings.TrimPrefix(before[from:], "n") // the letter of an escaped line break
		if scan.Among(word, g.Words.Channels, g.Words.Roles) && known(behind[:end]) {
			return true
		}
		text = behind
	}
}
