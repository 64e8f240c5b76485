package tools

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/notation"
)

// maxFrames bounds how often something is taken off from around arguments, in any order, so that time
// stays linear.
const maxFrames = 24

// read returns the one object that text means. Where that is not certain, something may stand around
// it: it is taken off, a piece at a time and in any order, until what remains is certain.
func (w *shaper) read(text string) (reading, *Refusal) {
	if plain := w.carried(text); plain != text {
		w.note("args.transport", text, plain, "")
		text = plain
	}
	r, refusal := w.readBare(text)
	if w.schema == nil || refusal == nil && !w.doubtful(r) {
		return r, refusal
	}
	noted := slices.Clone(w.repairs)
	if framed, ok := w.unframed(text); ok {
		return framed, nil
	}
	w.repairs = noted
	return r, refusal
}

// carried is text without what its transport left in it, unless it is valid as it is.
func (w *shaper) carried(text string) string {
	plain := notation.Carried(text)
	if plain != text && gjson.Valid(text) {
		return text
	}
	return plain
}

// doubtful reports whether a reading may be another one: it was guessed, or is the text itself.
func (w *shaper) doubtful(r reading) bool {
	return r.unsure || slices.ContainsFunc(w.repairs, func(r Repair) bool { return r.Kind == "args.wrap" })
}

// unframed takes one thing off, and reads what remains. Each way returns that, and words that it took.
func (w *shaper) unframed(text string) (reading, bool) {
	text = strings.TrimSpace(text)
	ways := [...]func(text string) (inner, off string){halved, w.unheaded, unhollow, unquotedObject, untailed,
		unlabelled, undebris, unclosed, reopened, w.unended, w.unspoken}
	for _, way := range ways {
		inner, taken := way(text)
		if inner = strings.TrimSpace(inner); inner == "" || inner == text || w.framed >= maxFrames ||
			w.remark(taken) != "" {
			continue
		}
		w.framed++
		w.repairs = []Repair{renamed("args.unframe", text, inner, "")}
		r, refusal := w.readBare(inner)
		if refusal == nil && !w.doubtful(r) && (r.cut == jsonrepair.Whole || !w.closed()) {
			return r, true
		}
		if r, ok := w.unframed(inner); ok {
			return r, true
		}
	}
	return reading{}, false
}

// halved is one half of a text that stands there twice.
func halved(text string) (inner, off string) {
	const between = 16 // bytes of blanks and tokens
	for n := len(text) / 2; n > 8 && n >= (len(text)-between)/2; n-- {
		if text[:n] == text[len(text)-n:] && strings.TrimSpace(text[n:len(text)-n]) == "" {
			return text[:n], ""
		}
	}
	return text, ""
}

var channel = regexp.MustCompile(`\b(?:assistant|commentary|analysis|final)\b`)

// unheaded is what stands behind a header that names the very tool: a server took all of it for the
// arguments of its call. What stands between the two must say nothing.
func (w *shaper) unheaded(text string) (inner, off string) {
	const glue = 64 // bytes: a channel, a content type, debris
	header := "to=functions." + w.tool
	at := strings.LastIndex(text, header)
	if at < 0 {
		return text, ""
	}
	behind := text[at+len(header):]
	n := strings.IndexByte(behind, '{')
	if n < 0 || n > glue {
		return text, ""
	}
	return behind[n:], channel.ReplaceAllString(behind[:n], "")
}

// unhollow is a text without an object that holds nothing in front.
func unhollow(text string) (inner, off string) {
	rest, ok := strings.CutPrefix(text, "{}")
	if !ok {
		return text, ""
	}
	return rest, ""
}

// unquotedObject is a text without the quotes around an object.
func unquotedObject(text string) (inner, off string) {
	for _, quote := range []string{`"`, `\"`, "'", "`"} {
		if strings.HasPrefix(text, quote+"{") && strings.HasSuffix(text, "}"+quote) {
			return text[len(quote) : len(text)-len(quote)], ""
		}
	}
	return text, ""
}

// reopened is an object that goes on behind its end, where both parts are valid: {"a":1},"b":2}
func reopened(text string) (inner, off string) {
	end, ok := jsonrepair.End(text)
	rest := strings.TrimSpace(text[end:])
	if !ok || !strings.HasPrefix(rest, `,"`) || !gjson.Valid(text[:end]) || !gjson.Valid("{"+rest[1:]) {
		return text, ""
	}
	return text[:end-1] + rest, ""
}

var tail = regexp.MustCompile(`(?:\s*<\|\w{3,10}\|?>?(?:assistant|commentary|analysis|final)?)+$`)

// untailed is a text without the tokens that end a message, and what begins behind them.
func untailed(text string) (inner, off string) {
	from := max(0, len(text)-256)
	if at := tail.FindStringIndex(text[from:]); at != nil && from+at[0] > 0 {
		return text[:from+at[0]], ""
	}
	return text, ""
}

// unlabelled is a text without the word in front that says what follows: arguments: {…}
func unlabelled(text string) (inner, off string) {
	n := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) && r != '_' })
	if n <= 0 || n > 40 {
		return text, ""
	}
	rest := strings.TrimLeftFunc(text[n:], unicode.IsSpace)
	for _, sign := range []string{":", "：", "="} {
		rest = strings.TrimPrefix(rest, sign)
	}
	return opens(text, n, rest)
}

// undebris is a text without the few letters and signs of other scripts in front.
func undebris(text string) (inner, off string) {
	const most = 32
	n := strings.IndexFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && !unicode.IsSpace(r) || strings.ContainsRune("｛＂「『“", r)
	})
	if n <= 0 || n > most {
		return text, ""
	}
	return opens(text, n, text[n:])
}

// unspoken is the valid object that a text ends in, without the words in front, where a wrong value does
// no harm: a thought that a server took for the arguments, too.
func (w *shaper) unspoken(text string) (inner, off string) {
	n := strings.IndexByte(text, '{')
	if n <= 0 || !w.harmless() || !gjson.Valid(text[n:]) {
		return text, ""
	}
	return text[n:], ""
}

// unended is a text without the comment behind the object that says that this is the end.
func (w *shaper) unended(text string) (inner, off string) {
	end, ok := jsonrepair.End(text)
	rest := strings.TrimSpace(text[end:])
	for _, sign := range []string{"#", "//", "--", "/*"} {
		if words, is := strings.CutPrefix(rest, sign); is && ok {
			words = strings.ToLower(strings.TrimSuffix(words, "*/"))
			for _, word := range strings.FieldsFunc(words,
				func(r rune) bool { return !isWordRune(r) && r != '_' }) {
				if !slices.Contains([]string{"end", "eof", "eot", "eos", "done", "of", "the", "object",
					"json", "arguments", "args", "parameters", "call", "tool"}, word) &&
					key(word) != key(w.tool) {
					return text, ""
				}
			}
			return text[:end], ""
		}
	}
	return text, ""
}

// opens takes text[:n] off, if rest begins as arguments do, in one notation or another.
func opens(text string, n int, rest string) (inner, off string) {
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	r, _ := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune("{[\"<｛＂「“`", r) || rest == "" {
		return text, ""
	}
	return rest, text[:n]
}

// unclosed is a text without its last brace.
func unclosed(text string) (inner, off string) {
	if strings.HasSuffix(text, "}") || strings.HasSuffix(text, "]") {
		return text[:len(text)-1], ""
	}
	return text, ""
}
