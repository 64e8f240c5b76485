package args

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// transportOps are what streaming servers leave in arguments.
func transportOps() []Op {
	return []Op{
		{ID: "args.chunks", About: "the sizes of HTTP's chunks", Server: true, Stream: true,
			Damage: func(r *rand.Rand, text string) (string, bool) {
				at := 1 + r.IntN(max(len(text)-1, 1))
				for at < len(text) && !utf8.RuneStart(text[at]) {
					at++
				}
				return fmt.Sprintf("%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", at, text[:at], len(text)-at, text[at:]),
					at < len(text)
			}, Undo: pure(func(s string) []string { return only(Carried(s), s, true) }),
			Signs: "\n", Cost: cheap,
			Keeps: true},
		{ID: "args.beats", About: "lines that keep the stream open", Server: true,
			Damage: func(r *rand.Rand, text string) (string, bool) {
				return layout{"{", ":" + pick(r, ": OPENROUTER PROCESSING\n\n ", "\n: keep-alive\n\n",
					": ping\n\n"), ", ", "}", nil, nil}.write(text)
			}, Undo: pure(beats), Signs: "\n", Cost: cheap, Keeps: true, Proof: true},
	}
}

var (
	// beat matches a line that keeps a stream of events open.
	beat = regexp.MustCompile(`(?i)(?::[ \t]?(?:openrouter processing|keep-?alive|heartbeat|ping)(?:[ \t]+-?[ \t]*[\d:.+TZ-][\d:.+TZ -]*)?[ \t]*\r?\n|event:[ \t]?ping\r?\n(?:data:[^"\n]*\r?\n|data:[ \t]?\{"type":[ \t]?"ping"\}\r?\n)?)\s*`)
	// remark matches any other comment of an event stream, with an empty line.
	remark = regexp.MustCompile(`\n:[ \t][^"'{}\[\],\n]*\n[ \t\r]*\n\s*`)
	// busy matches the one that no text contains; it may also interrupt a text.
	busy = regexp.MustCompile(`: OPENROUTER PROCESSING\r?\n(?:\r?\n)+`)
)

// Carried removes transport lines wherever they stand: models do not write them.
func Carried(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	return busy.ReplaceAllString(unchunked(text), "")
}

// Beats reports whether a text contains a keep-alive line with the empty line behind it.
func Beats(text string) bool {
	return slices.ContainsFunc(beat.FindAllString(text, -1),
		func(s string) bool { return strings.Count(s, "\n") > 1 })
}

func begins(s string, with byte) bool {
	s = strings.TrimLeft(s, " \n\t\r")
	return s != "" && s[0] == with
}

// beats removes transport lines between the parts of an object.
func beats(s string) []string {
	if !begins(s, '{') {
		return nil
	}
	text, ok := split(s, func(part string) (string, bool) {
		if strings.ContainsAny(part, "'`‘“„«‹「『｢《〝❝＂") {
			return part, false // a text of another notation
		}
		return remark.ReplaceAllString(beat.ReplaceAllString(part, ""), "\n"), true
	}, same)
	return only(text, s, ok)
}

// unchunked removes the chunk sizes of HTTP, all of which must match. The first may be lost.
func unchunked(s string) string {
	const tries = 8
	trimmed := strings.TrimLeft(s, " \n\t\r")
	for i, n := 0, 0; n < tries; n++ {
		before := trimmed[:max(i-len("\r\n"), 0)]
		if text, n := chunks(trimmed[i:]); n > 1 || n == 1 && begins(before+text, '{') {
			return before + text
		}
		at := strings.Index(trimmed[i:], "\r\n")
		if at < 0 {
			break
		}
		i += at + len("\r\n")
	}
	return s
}

// chunks joins the chunks of s and counts them, with the empty one at the end; 0 for other texts.
func chunks(s string) (text string, n int) {
	var b strings.Builder
	for {
		line, rest, ok := strings.Cut(s, "\r\n")
		size, err := strconv.ParseUint(line, 16, 31)
		if err != nil || !ok && (size > 0 || n == 0) || int(size) > len(rest) {
			return "", 0
		}
		n++
		b.WriteString(rest[:size])
		rest = rest[size:]
		switch end := strings.Trim(rest, "\r\n") == ""; {
		case end && (size > 0 || n > 1):
			return b.String(), n
		case end || size == 0 || !strings.HasPrefix(rest, "\r\n"):
			return "", 0
		}
		s = rest[len("\r\n"):]
	}
}

// tokensBetween removes tokens between the parts of an object, outside of texts.
func tokensBetween(s string) []string {
	if !begins(s, '{') {
		return nil
	}
	text, ok := split(s, func(part string) (string, bool) {
		var b strings.Builder
		for i := 0; i < len(part); {
			if n := tokenLen(part[i:]); n > 0 {
				b.WriteByte(' ')
				i += n
				continue
			}
			b.WriteByte(part[i])
			i++
		}
		return b.String(), true
	}, same)
	return only(text, s, ok)
}
