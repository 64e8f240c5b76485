package openai

import (
	"slices"
	"strings"
)

// ContentFilter is the finish_reason of a reply that a filter of the server cut off.
const ContentFilter = "content_filter"

// Unfinished stands for the finish_reason of a reply that a server ended in good order and without one.
const Unfinished = "unfinished"

// Finishing reads a finish_reason: in a word that callers know, and, where something other
// than the token limit cut the reply, in the server's own word. One that is not known is a
// cut, since servers have a word of their own for each way to stop early. Callers get length
// for it: OpenClaw keeps the text then, and says that it is not whole; it fails a turn on a
// word that it does not know.
func Finishing(said string) (finish, cut string) {
	if CallsFinish(said) {
		return "stop", ""
	}
	switch strings.ToLower(said) {
	case "", "stop", "end", "end_turn", "eos", "eos_token", "stop_sequence":
		return "stop", ""
	case "length", "max_tokens":
		return "length", ""
	case ContentFilter:
		return ContentFilter, ContentFilter
	}
	return "length", shortWord(said)
}

// CallsFinish says that a finish_reason tells of calls.
func CallsFinish(said string) bool {
	return slices.Contains([]string{"tool_calls", "tool_call", "toolcalls", "tool_use", "function_call"},
		strings.ToLower(said))
}

// shortWord is a finish_reason as it may be shown: what is no short word is not.
func shortWord(said string) string {
	odd := func(c rune) bool {
		return c != ' ' && c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' ||
			c|0x20 > 'z')
	}
	if len(said) <= 64 && strings.IndexFunc(said, odd) < 0 {
		return said
	}
	return "for an unknown reason"
}
