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
