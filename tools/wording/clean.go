package wording

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxSteps bounds how often something is taken off a text, so that time stays linear.
const maxSteps = 16

// words are what servers and models write in front of arguments.
var words = [...]string{"json", "code", "arguments", "args", "parameters", "input"}

// Object returns the object that text is an encoding of, in any number of layers: strings
// of JSON, quotes around it, URL, HTML, base64, a word in front. What it returns begins
// with a brace; it may be damaged.
func Object(text string) (object string, ok bool) {
	text = strings.TrimSpace(text)
	for range maxSteps {
		if begins(text) {
			return text, true
		}
		next, ok := layer(text)
		if !ok {
			return "", false
		}
		text = strings.TrimSpace(next)
	}
	return "", false
}

// begins reports whether text begins as an object does, and is not encoded by HTML.
func begins(text string) bool {
	return strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{&quot;") &&
		!strings.HasPrefix(text, "{&#34;")
}

// layer takes the outermost layer off an encoded object.
func layer(text string) (string, bool) {
	switch {
	case text == "":
		return "", false
	case text[0] == '{', strings.HasPrefix(text, "&quot;"), strings.HasPrefix(text, "&#34;"):
		return html.UnescapeString(text), true
	case text[0] == '"':
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil {
			return inner, true
		}
		if object, ok := strings.CutSuffix(text[1:], `"`); ok && json.Valid([]byte(object)) {
			return object, begins(object)
		}
		return "", false
	case text[0] == '%':
		return unescapeURL(text)
	}
	if inner := unfence(text); inner != text {
		return inner, true
	}
	if rest, ok := afterWord(text); ok {
		return rest, true
	}
	if inner, ok := enclosed(text); ok {
		return inner, true
	}
	return fromBase64(text)
}

// enclosed is what stands in brackets, or in the parentheses of a call, and is no object yet.
func enclosed(text string) (string, bool) {
	text = text[letters(text):]
	for _, pair := range []string{"[]", "()"} {
		inner, opened := strings.CutPrefix(text, pair[:1])
		inner, closed := strings.CutSuffix(inner, pair[1:])
		if opened && closed {
			inner = strings.TrimSpace(inner)
			return inner, inner != "" && !begins(inner)
		}
	}
	return "", false
}

// unescapeURL decodes text as a form or as part of a path, whichever it is.
func unescapeURL(text string) (string, bool) {
	if strings.Contains(text, "&amp;") || strings.Contains(text, "&#") {
		return html.UnescapeString(text), true
	}
	plus, blank := strings.Contains(text, "+"), strings.Contains(text, "%20")
	decode := url.PathUnescape
	if plus && !blank {
		if !strings.Contains(text, "%2B") {
			return "", false // ambiguous: a + or a blank
		}
		decode = url.QueryUnescape
	}
	out, err := decode(text)
	return out, err == nil && !strings.ContainsAny(text, " \n\"{")
}

// afterWord is what stands behind a word and its sign, as in "json: {…}".
func afterWord(text string) (string, bool) {
	rest := text
	for _, word := range words {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) {
			rest = strings.TrimLeft(text[len(word):], " ")
			break
		}
	}
	behind := strings.TrimLeft(strings.TrimLeft(rest, ":="), " \n")
	if behind == text || !strings.HasPrefix(behind, "{") && !strings.HasPrefix(behind, `"{`) &&
		!strings.HasPrefix(behind, `"\`) {
		return "", false
	}
	return behind, true
}

// fromBase64 decodes text that is clearly an object in base64.
func fromBase64(text string) (string, bool) {
	out, err := base64.StdEncoding.DecodeString(text)
	return string(out), err == nil && len(text) >= 8 && utf8.Valid(out)
}

// Clean returns text without the debris around it: a fence, quotes that enclose all, and
// the word and sign in front of it.
func (k Kind) Clean(text string) string {
	for range maxSteps {
		next := k.unquote(unfence(text))
		for _, word := range append(words[:], string(k), "cmd") {
			behind, ok := strings.CutPrefix(next, word+":")
			if !ok && (k == Path || k == URL) {
				behind, ok = strings.CutPrefix(next, word+"=")
			}
			if ok && strings.TrimSpace(behind) != "" {
				next = strings.TrimSpace(behind)
			}
		}
		if next == text {
			return text
		}
		text = next
	}
	return text
}

// unfence returns what stands in text if text is one code fence, and else text.
func unfence(text string) string {
	const fence = "```"
	inner, opened := strings.CutPrefix(strings.TrimSpace(text), fence)
	inner, closed := strings.CutSuffix(inner, fence)
	_, inner, lines := strings.Cut(inner, "\n")
	if !opened || !closed || !lines || strings.Contains(inner, fence) {
		return text
	}
	return strings.TrimSuffix(inner, "\n")
}

// unquote takes off quotes that enclose all of text, if none stands inside.
func (k Kind) unquote(text string) string {
	marks := []string{`"`, "'", "`"}
	switch k {
	case Code:
		marks = marks[:1] // the others mean something
	case Command:
		marks = marks[:2]
	}
	for _, q := range marks {
		inner, opened := strings.CutPrefix(text, q)
		inner, closed := strings.CutSuffix(inner, q)
		if opened && closed && inner != "" && !strings.ContainsAny(inner, q+`\`) {
			return inner
		}
	}
	return text
}
