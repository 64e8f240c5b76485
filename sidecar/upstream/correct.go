package upstream

import (
	"cmp"
	"slices"

	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// Correct adds to a prepared request what the model said and what was wrong with
// it, so that it answers again. It is for one bounded question more and stays
// between the upstream and us. said may be empty; with alternate a sentence stands for
// it. The correction is a user message, the only role that every server's template
// renders at the end.
func Correct(body []byte, said, problem string, alternate bool) []byte {
	whole := openai.Span{From: 0, To: len(body)}
	var messages openai.Span
	err := openai.Members(body, whole, func(key []byte, _, val openai.Span) {
		if string(key) == "messages" && body[val.From] == '[' {
			messages = val
		}
	})
	if err != nil || !messages.Present() {
		return body
	}
	var more []byte
	if alternate {
		said = cmp.Or(said, silence)
	}
	if said != "" {
		more = appendMessage(more, "assistant", said)
	}
	more = appendMessage(more, "user", problem)
	return slices.Concat(body[:messages.To-1], more, body[messages.To-1:])
}

// appendMessage appends a message that follows another.
func appendMessage(dst []byte, role, text string) []byte {
	dst = append(append(dst, `,{"role":"`...), role...)
	dst = append(dst, `","content":`...)
	return append(openai.AppendString(dst, Masked(text)), '}')
}

// Unstreamed is a prepared request that asks for a whole reply.
func Unstreamed(body []byte) []byte {
	out, err := sjson.SetBytes(body, "stream", false)
	if err == nil {
		out, err = sjson.DeleteBytes(out, "stream_options")
	}
	if err != nil { // it is no object, which the server says
		return body
	}
	return out
}
