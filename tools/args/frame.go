package args

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// frameOps are texts around arguments. Words there may deny the call.
func frameOps() []Op {
	row := func(id, about string, damage func(*rand.Rand, string) (string, bool), undo func(x *Text) (inner,
		off string)) Op {
		return Op{ID: id, About: about, Damage: damage, Undo: strip(undo), Cost: usual, Keeps: true}
	}
	spoken := row("args.words", "a sentence in front of the object",
		between([2]string{"We need to look at it. ", ""}), stripSentence)
	spoken.Keeps = false
	return []Op{
		row("args.twice", "the same object twice", written(func(_ *rand.Rand,
			text string) string {
			return text + text
		}), firstHalf),
		row("args.header", "the header of the call", nil, stripHeader),
		row("args.hollow", "an empty object in front", between([2]string{"{}", ""}), func(x *Text) (string,
			string) {
			return strings.TrimPrefix(x.string, "{}"), ""
		}),
		row("args.tail", "tokens that end a message", between([2]string{"", "<|call|>"}, [2]string{"",
			"<|end|>"},
			[2]string{"", "<|call|>commentary"}, [2]string{"", "<|call|><|start|>assistant"}), stripTail),
		row("args.label", "a word in front that says what follows", between([2]string{"arguments: ", ""},
			[2]string{"json", ""},
			[2]string{"args=", ""}, [2]string{"json\r\n", ""}, [2]string{"参数：", ""},
			[2]string{"аргументы: ", ""}, [2]string{"code ", ""}), stripLabel),
		row("args.debris", "letters and signs of another script in front", between([2]string{"彩票", ""},
			[2]string{"】【", ""},
			[2]string{"…", ""}), stripDebris),
		row("args.brace", "one brace too many", between([2]string{"", "}"}), stripBrace),
		row("args.end", "a comment behind the object that says that it is the end", between([2]string{"",
			" # end"}, [2]string{"", "\n// done"}), stripEnd),
		spoken,
	}
}

// soleOps leave only a value.
func soleOps() []Op {
	return []Op{
		{ID: "args.wrap", About: "the value of the only argument, and nothing else",
			Damage: func(_ *rand.Rand, text string) (string, bool) {
				one := ""
				gjson.Parse(text).ForEach(func(_, v gjson.Result) bool { one = v.Raw; return true })
				return one, members(text) == 1 && one[0] == '"'
			}, Undo: sole, Cost: lone, Keeps: true, Alone: true, Words: true},
	}
}

// sole returns the object of the only parameter for a text, unless that is rather a damaged object.
func sole(x *Text) []Reading {
	fixed, err := x.repaired()
	if !x.whole && (err != nil && x.string[0] == '{' && x.Known() || err == nil && !x.isWords(fixed)) {
		return nil
	}
	object, ok := x.Sole(x.string, !x.whole)
	if !ok {
		return nil
	}
	return []Reading{{Text: object, Raw: !x.whole || strings.IndexByte("\"[{", x.string[0]) < 0}}
}

// firstHalf returns one half of a repeated text.
func firstHalf(x *Text) (inner, off string) {
	text := x.string
	const between = 16 // bytes of blanks and tokens
	for n := len(text) / 2; n > 8 && n >= (len(text)-between)/2; n-- {
		if text[:n] == text[len(text)-n:] && strings.TrimSpace(text[n:len(text)-n]) == "" {
			return text[:n], ""
		}
	}
	return text, ""
}

var channel = regexp.MustCompile(`\b(?:assistant|commentary|analysis|final)\b`)

// stripHeader returns the text behind a header that names the very tool: a server took both for the
// arguments. Only glue may stand between.
func stripHeader(x *Text) (inner, off string) {
	const glue = 64 // bytes: a channel, a content type, debris
	header := "to=functions." + x.Name()
	at := strings.LastIndex(x.string, header)
	if at < 0 {
		return x.string, ""
	}
	behind := x.string[at+len(header):]
	n := strings.IndexByte(behind, '{')
	if n < 0 || n > glue {
		return x.string, ""
	}
	return behind[n:], channel.ReplaceAllString(behind[:n], "")
}

// unquotedObject removes quotes around an object.
func unquotedObject(text string) (inner string, ok bool) {
	for _, quote := range []string{`"`, `\"`, "'", "`"} {
		if strings.HasPrefix(text, quote+"{") && strings.HasSuffix(text, "}"+quote) {
			return text[len(quote) : len(text)-len(quote)], true
		}
	}
	return "", false
}

var tail = regexp.MustCompile(`(?:\s*<\|\w{3,10}\|?>?(?:assistant|commentary|analysis|final)?)+$`)

// stripTail removes tokens that end a message, and what follows.
func stripTail(x *Text) (inner, off string) {
	from := max(0, len(x.string)-256)
	if at := tail.FindStringIndex(x.string[from:]); at != nil && from+at[0] > 0 {
		return x.string[:from+at[0]], ""
	}
	return x.string, ""
}

// stripLabel removes a label in front: arguments: {…}
func stripLabel(x *Text) (inner, off string) {
	n := strings.IndexFunc(x.string, func(r rune) bool { return !isLetter(r) && r != '_' })
	if n > 40 || n < 0 {
		return x.string, ""
	}
	rest := strings.TrimLeftFunc(x.string[n:], unicode.IsSpace)
	for _, sign := range []string{":", "：", "="} {
		rest = strings.TrimPrefix(rest, sign)
	}
	return stripped(x.string, n, rest)
}

// isLetter reports whether r may stand in a word.
func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// stripDebris removes a few letters and signs of other scripts in front.
func stripDebris(x *Text) (inner, off string) {
	const most = 32
	n := strings.IndexFunc(x.string, func(r rune) bool {
		return r < utf8.RuneSelf && !unicode.IsSpace(r) || strings.ContainsRune("｛＂「『“", r)
	})
	if n <= 0 || n > most {
		return x.string, ""
	}
	return stripped(x.string, n, x.string[n:])
}

// stripSentence returns the valid object at the end of a text: a server took a thought for the
// arguments, too.
func stripSentence(x *Text) (inner, off string) {
	n := strings.IndexByte(x.string, '{')
	if n <= 0 || !gjson.Valid(x.string[n:]) {
		return x.string, ""
	}
	return x.string[n:], ""
}

// stripEnd removes a comment that marks the end of the object.
func stripEnd(x *Text) (inner, off string) {
	end, ok := jsonrepair.End(x.string)
	rest := strings.TrimSpace(x.string[end:])
	for _, sign := range []string{"#", "//", "--", "/*"} {
		if words, is := strings.CutPrefix(rest, sign); is && ok {
			words = strings.ToLower(strings.TrimSuffix(words, "*/"))
			for _, word := range strings.FieldsFunc(words,
				func(r rune) bool { return !isLetter(r) && r != '_' }) {
				if !slices.Contains([]string{"end", "eof", "eot", "eos", "done", "of", "the", "object",
					"json", "arguments", "args", "parameters", "call", "tool"}, word) &&
					!strings.EqualFold(word, x.Name()) {
					return x.string, ""
				}
			}
			return x.string[:end], ""
		}
	}
	return x.string, ""
}

// stripped removes text[:n] if rest begins like arguments in some notation.
func stripped(text string, n int, rest string) (inner, off string) {
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	r, _ := utf8.DecodeRuneInString(rest)
	if !strings.ContainsRune(openers, r) || rest == "" {
		return text, ""
	}
	return rest, text[:n]
}

// stripBrace removes the last brace.
func stripBrace(x *Text) (inner, off string) {
	if n := len(x.string) - 1; n > 0 && (x.string[n] == '}' || x.string[n] == ']') {
		return x.string[:n], ""
	}
	return x.string, ""
}
