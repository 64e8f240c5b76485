package parse

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Last is where the object begins that a text ends in, behind words; -1: it ends in none. It must be
// valid JSON.
func Last(text string) int {
	const most = 64 // braces that are tried
	text = strings.TrimRight(text, " \n\t\r")
	if !strings.HasSuffix(text, "}") {
		return -1
	}
	i := 0
	for range most {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		if i += n; gjson.Valid(text[i:]) {
			return i
		}
		i++
	}
	return -1
}

// LastHeaders is where the calls begin that a text ends in, if their headers lost their tokens, or -1: the
// last header, and those in front between which nothing stands but what makes the next call.
func LastHeaders(words *harmony.Words, all string) int {
	const most = 16 // calls
	at := words.Last(all)
	for range most {
		prev := words.Last(all[:max(at, 0)])
		if prev < 0 || !goesOn(all[prev:at]) {
			break
		}
		at = prev
	}
	return at
}

// goesOn says that a call is all of a text, but for a sentence behind it that leads in the next one.
func goesOn(call string) bool {
	i := strings.IndexByte(call, '{')
	if i < 0 {
		return false
	}
	object := harmony.Scan{At: i}
	if object.Run(call, true); object.End == 0 {
		return false
	}
	behind := strings.TrimSpace(call[object.End:])
	behind = behind[SkipSenseless(behind, 0):]
	return len(behind) <= maxBetween && !strings.Contains(behind, "\n")
}

// EndsArguments says that a text ends as an object does, or in a word with escapes of a form: a server may
// have put the end of arguments there.
func EndsArguments(text string) bool {
	text = strings.TrimRight(text, " \n")
	word := text[strings.LastIndexAny(text, " \n")+1:]
	plain, err := url.PathUnescape(word)
	return strings.HasSuffix(text, "}") || err == nil && plain != word
}
