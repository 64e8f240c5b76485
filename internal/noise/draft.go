package noise

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// The kinds of messages of a turn.
const (
	thought  = "thought"
	preamble = "preamble"
	call     = "call"
	answer   = "answer"
)

// field is one argument.
type field struct {
	key   string
	value any
}

// message is a Harmony message in pieces, each of which can be damaged.
type message struct {
	kind                  string
	call                  int // index of the draft's call
	fields                []field
	before                string // text in front of all
	start, role           string
	mark, channel         string // channel token and word
	glue, to, space, name string // " ", "to=", "functions.", the tool
	ctype                 string
	token, body, closer   string
	behind                string
	order                 string // order of the header; see header
	wrapped, negative     bool
}

func (m *message) header() string {
	to := ""
	if m.to != "" {
		to = m.glue + m.to + m.space + m.name
	}
	switch m.order {
	case "role":
		return m.start + m.role + to + m.mark + m.channel + m.ctype
	case "type":
		return m.start + m.role + m.mark + m.channel + m.ctype + to
	case "recipient":
		return m.start + m.role + to + " " + m.channel + m.ctype
	}
	return m.start + m.role + m.mark + m.channel + to + m.ctype
}

func (m *message) String() string {
	return m.before + m.header() + m.token + m.body + m.closer + m.behind
}

// damaged reports whether a message is a call with invalid arguments.
func (m message) damaged() bool { return m.kind == call && !json.Valid([]byte(m.body)) }

// draft is a turn between what was meant and what arrives.
type draft struct {
	*rand.Rand
	msgs            []message
	calls           []Call
	visible, hidden []string
	loose           bool   // thoughts and text are indistinguishable
	user            string // the user's message
	content         string
	thoughts        string
	native          []Native
	finish, how     string // how: raw, split, native or reasoning
	open            bool   // an object lacks its end
	// what a server that stops half-way makes of a call
	half  func(d *draft, m *message, n *Native)
	frame *Frame // of another family
	// damages of the calls in it
	frames   []func(m *message, parts []part) []part
	prefixed bool // the server keeps the namespace in a name
	late     bool // only the text behind a call shows that none is meant
}

// turn draws a turn: thoughts, a preamble, up to four calls or an answer.
func (d *draft) turn(c *Case) {
	say := pick(d.Rand, written().Talks)
	c.User, d.user = say.User, say.User
	all := slices.Clone(written().Tools)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	c.Tools = all[:2+d.IntN(8)]
	if d.IntN(10) > 0 {
		d.add(thought, say.Thought)
		d.hidden = append(d.hidden, say.Thought)
	}
	n := []int{0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4}[d.IntN(12)]
	if n > 0 && d.IntN(3) == 0 {
		d.add(preamble, say.Preamble)
		d.visible = append(d.visible, say.Preamble)
	}
	for range n {
		d.addCall(pick(d.Rand, c.Tools))
		if last := len(d.calls) - 1; slices.ContainsFunc(d.calls[:last],
			func(c Call) bool {
				return c.Name == d.calls[last].Name && string(c.Args) == string(d.calls[last].Args)
			}) {
			d.calls, d.msgs = d.calls[:last], d.msgs[:len(d.msgs)-1] // a repeated call is owed once
		}
	}
	if n == 0 {
		d.add(answer, say.Answer)
		d.visible = append(d.visible, say.Answer)
	}
}

func (d *draft) add(kind, text string) {
	m := message{kind: kind, start: "<|start|>", role: "assistant", mark: "<|channel|>", token: "<|message|>",
		body: text, closer: "<|end|>"}
	m.channel = map[string]string{thought: "analysis", preamble: "commentary", answer: "final"}[kind]
	if kind == answer {
		m.closer = "<|return|>"
	}
	d.msgs = append(d.msgs, m)
}

func (d *draft) addCall(t Tool) {
	m := message{
		kind: call, call: len(d.calls), start: "<|start|>", role: "assistant", mark: "<|channel|>",
		channel: "commentary",
		glue:    " ", to: "to=", space: "functions.", name: t.Name, ctype: " <|constrain|>json",
		token: "<|message|>", closer: "<|call|>",
	}
	for _, p := range t.Params {
		m.fields = append(m.fields, field{p.Name, d.value(p.Kind)})
	}
	m.body = object(m.fields)
	d.msgs = append(d.msgs, m)
	d.calls = append(d.calls, Call{t.Name, json.RawMessage(m.body), t.Class, Must})
}

// object writes fields as JSON.
func object(fields []field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = quote(f.key) + ": " + quote(f.value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// lower weakens what is owed for a call; it never strengthens it.
func (d *draft) lower(i int, to Standing) {
	if d.calls[i].Standing != Never {
		d.calls[i].Standing = to
	}
}

// eachCall applies a damage to every call message, and reports whether one changed.
func (d *draft) eachCall(f func(m *message)) bool {
	changed := false
	for i := range d.msgs {
		if d.msgs[i].kind != call {
			continue
		}
		before := d.msgs[i].String()
		f(&d.msgs[i])
		changed = changed || before != d.msgs[i].String()
	}
	return changed
}

// text returns the turn as the model wrote it. Its first header starts behind the prompt.
func (d *draft) text() string {
	var b strings.Builder
	for i := range d.msgs {
		b.WriteString(d.msgs[i].String())
	}
	return b.String()
}
