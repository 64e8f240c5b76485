package harmony

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Words are the words of a Harmony header, by kind, in lower case. They are the part header of the
// strategy harmony in rule files.
type Words struct {
	Roles     []string `rule:"roles" doc:"Who speaks." eg:"[assistant, user, system, developer, tool]"`
	Channels  []string `rule:"channels" doc:"The channels. What begins with one is it, with noise behind." eg:"[analysis, commentary, final]"`
	Types     []string `rule:"types" doc:"Content types." eg:"[json, code, text]"`
	Recipient []string `rule:"recipient" doc:"Words that name the recipient, before = or a colon." eg:"[to, recipient]"`
	Call      []string `rule:"call" doc:"Words in front of a call." eg:"[call, tool]"`
	Tags      []string `rule:"tags" doc:"Tags that thoughts stand between, where the request speaks of none." eg:"[think, reasoning]"`
	Between   []string `rule:"between" doc:"Words that may stand between the recipient and the arguments." eg:"[arguments, args]"`
}

// Leftover reports whether w may be the rest of a header without tokens and recipient: a channel of
// calls, a content type, or both in one word, maybe behind "assistant".
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

// endsFold reports whether s ends with a word, in any case.
func endsFold(w, word string) bool {
	return len(w) >= len(word) && strings.EqualFold(w[len(w)-len(word):], word)
}

// recipient splits a header word that names the recipient: to=NAME, also behind a glued role or channel.
// The name is empty if it follows separately.
func (ws *Words) recipient(w string) (front, name string, ok bool) {
	if token, is := strings.CutPrefix(w, "<|"); is { // an unknown token: <|recipient|>NAME
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

// nearChannel reports whether w is a channel with one typo.
func (ws *Words) nearChannel(w string) bool {
	return slices.ContainsFunc(ws.Channels,
		func(c string) bool { return len(w) > 4 && Near(strings.ToLower(w), c) })
}

// Channel returns the channel that w begins with, or "".
func (ws *Words) Channel(w string) string {
	for _, c := range ws.Channels {
		if scan.StartsFold(w, c, true) == scan.Yes {
			return c
		}
	}
	return ""
}

// Glued returns the channel that s begins with, glued to a text, or "".
func (ws *Words) Glued(s string) string {
	c := ws.Channel(s)
	if first, _ := utf8.DecodeRuneInString(s[len(c):]); unicode.IsUpper(first) {
		return c
	}
	return ""
}

// Last returns the start of the last header with a recipient and without tokens, or -1. A model plans a
// call before it writes it.
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

// The words of the format that readers depend on. Rule files list others.
// https://github.com/openai/harmony/blob/main/docs/format.md
const (
	Assistant  = "assistant"  // the role of a reply
	Analysis   = "analysis"   // the channel of thoughts
	Commentary = "commentary" // the channel of calls, and of text in front of them
	Final      = "final"      // the channel of the answer
	Namespace  = "functions." // the prefix of gpt-oss's tools
	Addressee  = " to=" + Namespace
)

// Token is a control token.
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

// otherTokens are further words between <| and |> for tokens: of servers that know only the vocabulary's
// numbers, and of earlier models.
// https://github.com/openai/harmony/blob/main/docs/format.md
// https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py
var otherTokens = [...]struct {
	word  string
	token Token
}{
	{"reserved_200006", Start}, {"reserved_200005", Channel}, {"reserved_200008", Message}, {"reserved_200003", Constrain},
	{"reserved_200007", End}, {"reserved_200012", Call}, {"reserved_200002", Return},
	{"im_start", Start}, {"im_sep", Message}, {"im_end", Return}, {"endoftext", Return}, {"endofprompt", Return},
	{"fim_prefix", Return}, {"fim_middle", Return}, {"fim_suffix", Return},
}

// UsualWords returns the words of gpt-oss, for rule folders that list none.
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

// Outsider reports whether a role cannot call tools: user, system or developer. A tool only answers, but
// models also write its role for their own.
func (ws *Words) Outsider(role string) bool {
	return scan.AmongFold(role, ws.Roles) && !strings.EqualFold(role, Assistant) &&
		!strings.EqualFold(role, "tool")
}

// Foreign reports whether another than the assistant speaks: an outsider, or a tool that answers.
func (ws *Words) Foreign(h *Header) bool {
	switch {
	case h.Role == "" || strings.EqualFold(h.Role, Assistant):
		return false
	case h.Recipient == Assistant || ws.Outsider(h.Role):
		return true
	}
	return h.Recipient == "" && scan.AmongFold(h.Role, ws.Roles)
}

// Echo reports whether a message of another role may repeat the request: it has no channel and no
// recipient, and a user's message is part of the last one, if that is known. message is the message or its
// beginning.
func (ws *Words) Echo(h *Header, body, message string) bool {
	const long = 1 << 10 // only the beginning of a longer one may be known
	switch {
	case !ws.Outsider(h.Role):
		return true
	case h.Channel != "" || h.Recipient != "":
		return false
	case message == "" || !strings.EqualFold(h.Role, "user"):
		return true
	}
	body, message = strings.Join(strings.Fields(body), " "), strings.Join(strings.Fields(message), " ")
	return strings.Contains(message, body) || len(message) > long && strings.HasPrefix(body, message)
}

// ToChannel returns the channel that a header without tokens names as its recipient, and the start of
// its body in rest, behind a content type, maybe glued: to=final codeHello
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

// Address moves a recipient that is a channel to Channel, unless a tool has that name.
func (ws *Words) Address(h *Header, named func(string) bool) {
	to := strings.TrimPrefix(h.Recipient, Namespace)
	if scan.AmongFold(to, ws.Channels) && !named(h.Recipient) {
		h.Channel, h.Recipient, h.Flaw = strings.ToLower(to), "", "the channel as the recipient"
	}
}

// Peel finds the name of a tool that is glued to other words of the header. Such a role names the
// speaker.
func (ws *Words) Peel(h *Header, named func(string) bool) {
	for _, w := range [...]string{h.Recipient, h.Rest, h.Channel, h.Role} {
		if name := ws.peeled(w, named); name != "" && (w != h.Role || w != name && w != Namespace+name) {
			h.Recipient, h.Flaw = name, "a name that is glued to other words"
			return
		}
	}
}

// peeled returns the name in a damaged word, behind glued header words and signs: tofunctions.exec,
// commentary=exec; or "".
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

// closesQuote may follow a quotation.
const closesQuote = ".,;:!?)\"'”’»`"

// Sentence reports whether rest, behind a control token, continues a sentence: it begins with a closing
// quote, or with a lower-case word that is no header word.
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

// Shadow reports whether a text continues as the header of another message without control tokens: the
// rest is then not meant for its reader. known reports whether a name is that of a tool. Larger models
// of the same format do this:
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
