package noise

import (
	"html"
	"strings"
)

// tokens applies f to the word of every control token outside of bodies.
func (d *draft) tokens(f func(word string) string) {
	var pairs []string
	for _, w := range []string{"start", "channel", "constrain", "message", "call", "end", "return"} {
		pairs = append(pairs, "<|"+w+"|>", f(w))
	}
	r := strings.NewReplacer(pairs...)
	for i := range d.msgs {
		m := &d.msgs[i]
		for _, p := range []*string{&m.before, &m.start, &m.mark, &m.ctype, &m.token, &m.closer, &m.behind,
			&m.channel, &m.name} {
			*p = r.Replace(*p)
		}
		if m.negative {
			m.body = r.Replace(m.body)
		}
	}
}

func spellingOps() []Operator {
	s := func(id, about string, f func(w string) string) Operator {
		return Operator{ID: "spell-" + id, About: about, Server: true, stage: spelling, plain: true,
			do: func(d *draft) { d.tokens(f) }}
	}
	return []Operator{
		s("fullwidth-bars", "full-width bars", func(w string) string { return "<｜" + w + "｜>" }),
		s("fullwidth", "full-width brackets and bars", func(w string) string { return "＜｜" + w + "｜＞" }),
		s("html", "HTML entities", func(w string) string { return html.EscapeString("<|" + w + "|>") }),
		s("html-numbers", "numbered HTML entities",
			func(w string) string { return "&#60;&#124;" + w + "&#124;&#62;" }),
		s("blanks", "blanks inside", func(w string) string { return "<| " + w + " |>" }),
		s("blanks-all", "blanks between bracket and bar",
			func(w string) string { return "< | " + w + " | >" }),
		s("upper", "capitals", func(w string) string { return "<|" + strings.ToUpper(w) + "|>" }),
		s("title", "a capital", func(w string) string {
			return "<|" + strings.ToUpper(w[:1]) + w[1:] + "|>"
		}),
		s("unicode-escape", "unicode escapes", func(w string) string { return `\u003c|` + w + `|\u003e` }),
		s("zero-width", "zero-width characters",
			func(w string) string { return "<\u200b|" + w + "|\u200b>" }),
		s("backslash", "backslashes before the bars", func(w string) string { return `<\|` + w + `\|>` }),
		s("percent", "percent encoding", func(w string) string { return "%3C%7C" + w + "%7C%3E" }),
		s("double-bars", "two bars", func(w string) string { return "<||" + w + "||>" }),
		s("no-left", "the first bracket is lost", func(w string) string { return "|" + w + "|>" }),
		s("no-right", "the last bracket is lost", func(w string) string { return "<|" + w + "|" }),
		s("no-bars", "the bars are lost", func(w string) string { return "<" + w + ">" }),
		s("square", "square brackets", func(w string) string { return "[" + w + "]" }),
	}
}

// strip empties pieces of every message. Thoughts can then look like text, and an object may have no
// end.
func strip(id, about string, f func(m *message)) Operator {
	return Operator{ID: "strip-" + id, About: about, Server: true, stage: stripping, do: func(d *draft) {
		d.loose = true
		for i := range d.msgs {
			if d.msgs[i].negative || d.msgs[i].wrapped {
				continue
			}
			f(&d.msgs[i])
			if d.open && d.msgs[i].kind == call {
				d.lower(d.msgs[i].call, May)
			}
		}
	}}
}

func strippingOps() []Operator {
	drop := func(m *message, words ...string) {
		for _, w := range words {
			for _, p := range []*string{&m.start, &m.mark, &m.ctype, &m.token, &m.closer, &m.channel} {
				*p = strings.ReplaceAll(*p, "<|"+w+"|>", "")
			}
		}
	}
	return []Operator{
		strip("all", "every control token",
			func(m *message) {
				drop(m, "start", "channel", "constrain", "message", "call", "end", "return")
			}),
		strip("start", "the start tokens", func(m *message) { drop(m, "start") }),
		strip("start-role", "start tokens and roles", func(m *message) { m.start, m.role = "", "" }),
		strip("channel", "the channel tokens", func(m *message) { drop(m, "channel") }),
		strip("constrain", "the constrain tokens", func(m *message) { drop(m, "constrain") }),
		strip("closers", "the closing tokens", func(m *message) { drop(m, "call", "end", "return") }),
		{ID: "strip-first-header", About: "the first header", Server: true, stage: stripping, do: func(d *draft) {
			if m := &d.msgs[0]; m.kind == thought {
				m.start, m.role, m.mark, m.channel, m.token, d.loose = "", "", "", "", "", true
			}
		}},
		{ID: "strip-forced", About: "the prompt makes the first call, up to the name", Server: true, stage: stripping, do: func(d *draft) {
			if d.msgs[0].kind == thought && len(d.msgs) > 1 {
				d.msgs = d.msgs[1:]
			}
			if m := &d.msgs[0]; m.kind == call && !m.wrapped && !m.negative && m.order == "" {
				m.before, m.start, m.role, m.mark, m.channel, m.glue, m.space = "", "", "", "", "", "", ""
				m.to = pick(d.Rand, []string{"=functions.", "functions.", "."})
			}
		}},
		{ID: "strip-head-start", About: "start and role of the first message", Server: true, stage: stripping, do: func(d *draft) { d.msgs[0].start, d.msgs[0].role = "", "" }},
	}
}

// wrap replaces the markup of each call.
func wrap(id, about string, f func(name, body string) string) Operator {
	return Operator{ID: "wrap-" + id, About: about, stage: stripping, do: func(d *draft) {
		calls := len(d.calls)
		for i := range d.msgs {
			m := &d.msgs[i]
			if m.kind != call || m.wrapped {
				continue
			}
			damaged := m.damaged()
			*m = message{kind: call, call: m.call, before: m.before, body: f(m.name, m.body) + "\n",
				wrapped: true}
			if d.calls[m.call].Class != Reads && (calls > 1 || damaged || d.open || d.how == "raw" ||
				len(d.visible) > 0) {
				d.lower(m.call, May)
			}
		}
	}}
}

func wrapperOps() []Operator {
	return []Operator{
		wrap("call-object", "an object with name and arguments",
			func(n, b string) string { return `{"name": ` + quote(n) + `, "arguments": ` + b + "}" }),
		wrap("fenced-object", "the same in a fence", func(n, b string) string {
			return "```json\n{\"name\": " + quote(n) + ", \"arguments\": " + b + "}\n```"
		}),
		wrap("parallel", "the parallel wrapper", func(n, b string) string {
			return `{"tool_uses": [{"recipient_name": ` + quote("functions."+n) + `, "parameters": ` + b +
				"}]}"
		}),
		wrap("function-call", "a function call as the whole text",
			func(n, b string) string { return "functions." + n + "(" + b + ")" }),
		wrap("tool-call-tag", "a tool_call tag", func(n, b string) string {
			return "<tool_call>\n{\"name\": " + quote(n) + ", \"arguments\": " + b + "}\n</tool_call>"
		}),
		wrap("tool-calls-list", "the list of the API", func(n, b string) string {
			return `{"tool_calls": [{"type": "function", "function": {"name": ` + quote(n) +
				`, "arguments": ` + quote(b) + "}}]}"
		}),
		wrap("react", "ReAct lines",
			func(n, b string) string { return "Action: " + n + "\nAction Input: " + b }),
		wrap("flat-object", "arguments beside the name", func(n, b string) string {
			if b == "{}" || !strings.HasPrefix(b, "{") {
				return `{"name": ` + quote(n) + `, "arguments": ` + b + "}"
			}
			return `{"tool": ` + quote(n) + `, ` + b[1:]
		}),
	}
}

func deliveryOps() []Operator {
	return []Operator{
		{ID: "field-reasoning", About: "all of it arrives as reasoning", Server: true, stage: delivery, do: func(d *draft) {
			if len(d.calls) > 0 {
				d.how, d.visible, d.hidden = "reasoning", nil, nil
			}
		}},
		{ID: "field-raw", About: "nothing is read: all of it arrives as content", Server: true, stage: delivery, plain: true, do: func(d *draft) {
			d.how = "raw"
			for i := range d.msgs {
				if m := &d.msgs[i]; m.wrapped && d.calls[m.call].Class != Reads {
					d.lower(m.call, May)
				}
			}
		}},
		{ID: "cut-length", About: "the token limit, at any byte", Server: true, stage: cutting, plain: true, do: func(d *draft) { d.cut("length") }},
		{ID: "cut-stream", About: "the stream breaks, at any byte", Server: true, stage: cutting, plain: true, do: func(d *draft) { d.cut("") }},
	}
}
