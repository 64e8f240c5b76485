package tools

import "strings"

// maxSteps bounds how often something is taken off a text, so that time stays linear.
const maxSteps = 16

// labels are what servers and models write in front of arguments.
var labels = [...]string{"json", "code", "arguments", "args", "parameters", "input"}

// Clean returns text without the debris around it: a fence, quotes that enclose all, and
// the word and sign in front of it.
func (k TextKind) Clean(text string) string {
	for range maxSteps {
		next := k.unquote(unfence(text))
		for _, word := range append(labels[:], string(k), "cmd") {
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
func (k TextKind) unquote(text string) string {
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
