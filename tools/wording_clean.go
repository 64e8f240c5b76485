package tools

import "strings"

// maxSteps bounds the layers removed from a text, so that time stays linear.
const maxSteps = 16

// labels are words that servers and models write before arguments.
var labels = [...]string{"json", "code", "arguments", "args", "parameters", "input"}

// Clean removes the debris around text: a fence, quotes that enclose all of it, a label and its sign.
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

// unfence returns the content of text if it is one code fence.
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

// unquote removes quotes that enclose all of text, if none stands inside.
func (k TextKind) unquote(text string) string {
	marks := []string{`"`, "'", "`"}
	switch k {
	case Code:
		marks = marks[:1] // other quotes have a meaning
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
