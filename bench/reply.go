//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// sentence is the text of replies: quotes, a line break, multi-byte letters, and one mark that callers
	// count
	sentence = "The folder holds \"main.go\" and notes.md;\nfirst read both – the larger has 12 KB, größer als erwartet @ last. "
	mark     = "@"

	// What vLLM puts around a reply and around an event.
	head      = `{"id":"chatcmpl-5b0f6c1e7d0b4d1f9a3c","object":"chat.completion","created":1760000000,"model":"openai/gpt-oss-120b","choices":[{"index":0,"message":{"role":"assistant",`
	tail      = `"refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":"We write it.","reasoning_content":"We write it."},"logprobs":null,"finish_reason":"%s","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484,"prompt_tokens_details":null},"prompt_logprobs":null,"kv_transfer_params":null}`
	eventHead = `data: {"id":"chatcmpl-5b0f6c1e7d0b4d1f9a3c","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-120b","choices":[`
	eventTail = `],"usage":null}` + "\n\n"
)

// reply is an answer of the model server, and what must arrive of it.
type reply struct {
	body   []byte            // of a whole answer
	events [][]byte          // of a streamed answer, each an HTTP chunk
	turns  [][]byte          // answers by the number of tool results in the request
	delay  time.Duration     // before the first byte
	gap    time.Duration     // between events; if positive, callers may leave
	kinds  map[string]*reply // other answers, by the kind that the request wants
	breaks bool              // the connection ends inside the stream
	marks  int               // number of marks that must arrive
	musts  []string          // texts that must arrive
}

// check returns what is missing in a reply.
func (r *reply) check(body []byte) error {
	if n := bytes.Count(body, []byte(mark)); n != r.marks {
		return fmt.Errorf("%d of %d marks have arrived: %.300s", n, r.marks, body)
	}
	for _, must := range r.musts {
		if !bytes.Contains(body, []byte(must)) {
			return fmt.Errorf("%s has not arrived: %.300s", must, body)
		}
	}
	return nil
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string
	return strings.TrimSpace(b.String())
}

// filled repeats the sentence until the text has about size bytes.
func filled(size int, of func(sentences string) string) string {
	none, one := len(of("")), len(of(sentence))
	return of(strings.Repeat(sentence, max(1, (size-none)/(one-none))))
}

// arguments returns arguments for a call of write.
func arguments(size int) string {
	return filled(size, func(s string) string { return `{"path":"notes.md","content":` + quoted(s) + `}` })
}

// call returns a correct tool call.
func call(arguments string) string {
	return `"tool_calls":[{"index":0,"id":"chatcmpl-tool-4f1d0a","type":"function","function":{"name":"write","arguments":` + quoted(arguments) + `}}]`
}

func whole(doc, finish string) *reply {
	doc = strings.Replace(doc, "%s", finish, 1)
	return &reply{body: []byte(doc), marks: strings.Count(doc, mark),
		musts: []string{`"finish_reason":"` + finish + `"`}}
}

// textReply returns a document of size bytes without a call.
func textReply(size int, delay time.Duration) *reply {
	r := whole(filled(size, func(s string) string {
		return head + `"content":` + quoted(s) + `,"tool_calls":[],` + tail
	}), "stop")
	r.delay = delay
	return r
}

// callReply returns a document with one correct call.
func callReply(size int) *reply {
	r := whole(head+`"content":null,`+call(arguments(size))+","+tail, "tool_calls")
	r.musts = append(r.musts, `"name":"write"`)
	return r
}

// stream returns a reply with one choice after the other, between a beginning and an end.
func stream(finish string, deltas []string) *reply {
	r := &reply{musts: []string{`"finish_reason":"` + finish + `"`, "[DONE]"}}
	add := func(event string) {
		r.marks += strings.Count(event, mark)
		r.events = append(r.events, fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event))
	}
	add(eventHead + `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}` + eventTail)
	for _, delta := range deltas {
		add(eventHead + `{"index":0,"delta":{` + delta +
			`},"logprobs":null,"finish_reason":null,"token_ids":null}` + eventTail)
	}
	add(eventHead + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"` + finish +
		`","stop_reason":null,"token_ids":null}` + eventTail)
	add("data: [DONE]\n\n")
	return r
}

// textStream returns n events, a quarter of them reasoning.
func textStream(n int, gap time.Duration) *reply {
	deltas := slices.Repeat([]string{`"content":" word @"`}, n)
	for i := range n / 4 {
		deltas[i] = `"reasoning_content":" word @"`
	}
	r := stream("stop", deltas)
	r.gap = gap
	return r
}

// callStream returns one correct call with 16 bytes of its arguments per event.
func callStream(size int) *reply {
	deltas := []string{call("")}
	for rest := arguments(size); rest != ""; {
		n := min(16, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		deltas = append(deltas, `"tool_calls":[{"index":0,"function":{"arguments":`+quoted(rest[:n])+`}}]`)
		rest = rest[n:]
	}
	r := stream("tool_calls", deltas)
	r.musts = append(r.musts, `"name":"write"`)
	return r
}
