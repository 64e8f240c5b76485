package noise

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// gone is the form of a call without its own entry.
const gone = "gone"

// entryOps are damages of the entries of a server's own calls.
func entryOps() []Operator {
	// whole is an entry whose call is owed only if its arguments are JSON
	whole := func(id, about string, f func(d *draft, m *message, n *Native)) Operator {
		return half(id, about, Must, func(d *draft, m *message, n *Native) {
			if !json.Valid([]byte(n.Args)) {
				d.lower(m.call, May)
			}
			f(d, m, n)
		})
	}
	return []Operator{
		whole("entries", "the arguments go on in a second entry, which has no name",
			func(d *draft, m *message, n *Native) {
				at := d.IntN(len(n.Args) + 1)
				for at > 0 && at < len(n.Args) && !utf8.RuneStart(n.Args[at]) {
					at--
				}
				d.native = append(d.native, Native{Name: n.Name, Args: n.Args[:at]})
				n.Name, n.Args = "", n.Args[at:]
			}),
		half("lost", "the end of the arguments is lost, and another call follows", Must,
			func(d *draft, m *message, n *Native) {
				if short, ok := d.shortened(m, false); ok && m.call+1 < len(d.calls) {
					n.Args = short
					d.lower(m.call, Never)
					for i := m.call + 1; i < len(d.calls); i++ {
						if d.calls[i].Class != Reads {
							d.lower(i, May) // it may depend on what was lost
						}
					}
				}
			}),
		half("healed", "the reply is cut inside of a text, and the server closes it; only of calls that change something", Must, func(d *draft, m *message, n *Native) {
			if short, ok := d.shortened(m, true); ok && m.call+1 == len(d.calls) &&
				d.calls[m.call].Class != Reads {
				n.Args, d.finish = short, "length"
				d.lower(m.call, Never)
			}
		}),
		whole("name-arguments", "the arguments stand in the name", func(d *draft, _ *message, n *Native) {
			n.Name += pick(d.Rand, []string{n.Args, "(" + n.Args + ")", " " + n.Args})
			n.Args = pick(d.Rand, []string{"", "{}"})
		}),
		half("name-twice", "the name of each chunk is put together", Must,
			func(d *draft, m *message, n *Native) {
				n.Name = m.name + m.name
				if d.IntN(2) == 0 {
					n.Name += m.name
				}
			}),
		half("name-count", "calls are counted in their name", Must,
			func(_ *draft, m *message, n *Native) { n.Name += ":" + string(rune('0'+m.call)) }),
		whole("name-none", "the name stands in the arguments, with the rest of the header",
			func(d *draft, m *message, n *Native) {
				n.Name = ""
				n.Args = pick(d.Rand, []string{"", "<|channel|>commentary to=", "commentary to="}) +
					"functions." + m.name + pick(d.Rand, []string{" <|constrain|>json<|message|>",
					"<|message|>"}) + n.Args
			}),
		whole("namespace", "the name is the namespace, and the tool a key",
			func(_ *draft, m *message, n *Native) {
				n.Name, n.Args = "functions", "{"+quote(m.name)+": "+n.Args+"}"
			}),
		half("next", "the arguments swallow the calls that follow", Must,
			func(d *draft, m *message, n *Native) {
				if last := len(d.native) - 1; last >= 0 {
					d.native[last].Args += "<|call|>" + m.String()
					n.Form = gone
				}
			}),
	}
}

// shortened returns the arguments of a call with their last text cut in the middle: closed as by a
// server, or open.
func (d *draft) shortened(m *message, closed bool) (args string, ok bool) {
	last := len(m.fields) - 1
	text, is := "", false
	if last >= 0 {
		text, is = m.fields[last].value.(string)
	}
	runes := []rune(text)
	if !is || len(runes) < 4 {
		return "", false
	}
	fields := slices.Clone(m.fields)
	fields[last].value = string(runes[:1+d.IntN(len(runes)-2)])
	args = object(fields)
	if !closed {
		args = args[:len(args)-len(`"}`)]
	}
	return args, true
}

// apiOps write a call as the answer of another API, if that is the whole reply.
func apiOps() []Operator {
	api := func(id, about string, f func(name, body string) string) Operator {
		op := wrap(id, about, f)
		do := op.do
		op.Server = true
		op.do = func(d *draft) {
			if len(d.calls) == 1 && len(d.visible) == 0 && !slices.ContainsFunc(d.msgs, message.damaged) {
				d.how = "split"
				do(d)
			}
		}
		return op
	}
	// shown is what a program prints: the model is asked if the tool writes or executes
	shown := func(id, about string, f func(name, body string) string) Operator {
		op := api(id, about, f)
		do := op.do
		op.do = func(d *draft) {
			before := d.text()
			if do(d); d.text() != before && d.calls[0].Class != Reads {
				d.lower(0, May)
			}
		}
		return op
	}
	function := func(n, b string) string {
		return `{"name": ` + quote(n) + `, "arguments": ` + quote(b) + "}"
	}
	return []Operator{
		api("completion", "a whole completion", func(n, b string) string {
			return `{"id": "c-1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "t-1", "type": "function", "function": ` +
				function(n, b) + `}]}, "finish_reason": "tool_calls"}]}`
		}),
		api("tool-use", "Bedrock's block", func(n, b string) string {
			return `{"toolUse": {"toolUseId": "t-1", "name": ` + quote(n) + `, "input": ` + b + "}}"
		}),
		api("gemini", "Gemini's part", func(n, b string) string {
			return `{"functionCall": {"name": ` + quote(n) + `, "args": ` + b + "}}"
		}),
		api("json-rpc", "MCP's message", func(n, b string) string {
			return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ` + quote(n) +
				`, "arguments": ` + b + "}}"
		}),
		api("responses-items", "the items of the Responses API", func(n, b string) string {
			return `[{"type": "reasoning", "id": "rs-1", "summary": []}, {"type": "function_call", "id": "fc-1", "call_id": "t-1", "name": ` + quote(n) + `, "arguments": ` + quote(b) + `, "status": "completed"}]`
		}),
		shown("repr", "a message as Python prints it", func(n, b string) string {
			return "ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageToolCall(id='t-1', function=Function(arguments='" +
				strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(b) + "', name='" + n +
				"'), type='function')])"
		}),
		wrap("tool-request", "LM Studio's request", func(n, b string) string {
			return "[TOOL_REQUEST]{\"name\": " + quote(n) + `, "arguments": ` + b + "}[END_TOOL_REQUEST]"
		}),
	}
}
