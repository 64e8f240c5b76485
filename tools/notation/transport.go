package notation

import (
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

var (
	// beat is a line by which a server keeps a stream of events open, wherever it came between.
	beat = lazyregexp.New(`(?i)(?::[ \t]?(?:openrouter processing|keep-?alive|heartbeat|ping|processing)(?:[ \t]+-?[ \t]*[\d:.+TZ-][\d:.+TZ -]*)?[ \t]*\r?\n|event:[ \t]?ping\r?\n(?:data:[^"\n]*\r?\n|data:[ \t]?\{"type":[ \t]?"ping"\}\r?\n)?)\s*`)
	// remark is any other comment of a stream of events: a line that a colon begins, and an empty one.
	remark = lazyregexp.New(`\n:[ \t][^"'{}\[\],\n]*\n[ \t\r]*\n\s*`)
	// busy is the one that no text has: it may stand inside of one, too.
	busy = lazyregexp.New(`: OPENROUTER PROCESSING\r?\n(?:\r?\n)+`)
)

// beats takes lines of the transport out that came between the pieces of an object.
func beats(s string) []string {
	if !strings.Contains(s, "\n") || !strings.Contains(s, ":") {
		return nil
	}
	text, ok := split(busy().ReplaceAllString(s, ""), func(part string) (string, bool) {
		return remark().ReplaceAllString(beat().ReplaceAllString(part, ""), "\n"), true
	}, same)
	return only(text, s, ok)
}

// chunked takes the sizes of HTTP's chunks out: each says how many bytes follow, so that all of them
// must agree. The first may have been eaten.
func chunked(s string) []string {
	const tries = 8
	s = strings.TrimLeft(s, " \n\t\r")
	for i, n := 0, 0; n < tries; n++ {
		if text, ok := chunks(s[i:]); ok {
			return only(s[:max(i-len("\r\n"), 0)]+text, s, true)
		}
		at := strings.Index(s[i:], "\r\n")
		if at < 0 {
			break
		}
		i += at + len("\r\n")
	}
	return nil
}

// chunks joins the chunks that s is.
func chunks(s string) (string, bool) {
	var b strings.Builder
	for n := 0; ; n++ {
		line, rest, ok := strings.Cut(s, "\r\n")
		size, err := strconv.ParseUint(line, 16, 31)
		if err != nil || !ok && (size > 0 || n == 0) {
			return "", false
		}
		if size == 0 {
			return b.String(), n > 0 && strings.Trim(rest, "\r\n") == ""
		}
		if int(size) > len(rest) {
			return "", false
		}
		b.WriteString(rest[:size])
		if rest = rest[size:]; strings.Trim(rest, "\r\n") == "" {
			return b.String(), true
		}
		if s, ok = strings.CutPrefix(rest, "\r\n"); !ok {
			return "", false
		}
	}
}

// between takes tokens of a tokenizer out that stand between the pieces of an object, and not in a text.
func between(s string) []string {
	if !strings.Contains(s, "<") {
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
