package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// ContentFilter is the finish_reason of a reply that a filter of the server cut off.
const ContentFilter = "content_filter"

// finishing reads a finish_reason: in a word that callers know, and, where something other
// than the token limit cut the reply, in the server's own word. One that is not known is a
// cut, since servers have a word of their own for each way to stop early. Callers get length
// for it: OpenClaw keeps the text then, and says that it is not whole; it fails a turn on a
// word that it does not know.
func finishing(said string) (finish, cut string) {
	if callsFinish(said) {
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
	return "length", word(said)
}

// callsFinish says that a finish_reason tells of calls.
func callsFinish(said string) bool {
	return scan.AmongFold(said, []string{"tool_calls", "tool_call", "toolcalls", "tool_use", "function_call"})
}

// word is a finish_reason as it may be shown: what is no short word is not.
func word(said string) string {
	plain := strings.IndexFunc(said, func(c rune) bool { return c > 0x7f || c != ' ' && !scan.IsName(byte(c)) }) < 0
	if plain && len(said) <= 64 {
		return said
	}
	return "for an unknown reason"
}
