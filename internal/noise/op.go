package noise

import (
	"slices"
	"strconv"
	"strings"
)

// Stages order a chain: a server works on what the model wrote.
const (
	slipArguments = iota // the model's arguments
	slipHeader           // its headers
	spelling             // the spelling of tokens
	stripping            // what a server removes from a message
	delivery             // the field in which it arrives
	cutting              // where it ends
)

// Operator is one kind of damage.
type Operator struct {
	ID, About string
	Server    bool // by a server; else by the model
	stage     int
	native    bool // also seen if the server has read the call
	plain     bool // also on replies without a call
	do        func(d *draft)
}

// Operators returns every kind of damage, in the order of their stages.
func Operators() []Operator {
	all := slices.Concat(argumentOps(), nameOps(), headerOps(), orderOps(),
		spellingOps(), strippingOps(), wrapperOps(), deliveryOps(), halfOps(), entryOps(), apiOps())
	slices.SortStableFunc(all, func(a, b Operator) int { return a.stage - b.stage })
	return all
}

func known(id string) bool {
	return slices.ContainsFunc(slices.Concat(Operators(), FrameOps()),
		func(o Operator) bool { return o.ID == id })
}

// damage applies a chain to the draft, delivers it, and returns what changed something.
func (d *draft) damage(o Options) (fired []string) {
	var chosen []Operator
	table := Operators()
	if d.frame != nil {
		table = FrameOps()
	}
	without := func(op Operator) bool {
		return len(o.Only) > 0 && !slices.Contains(o.Only, op.ID) || slices.Contains(o.Without, op.ID) ||
			o.Negatives && !op.plain
	}
	all := slices.DeleteFunc(table, without)
	n := o.Chain
	if n < 0 {
		n = d.IntN(5)
	}
	if o.Mix != "" {
		chosen, n = d.mixed(o.Mix, all), 0
	}
	for range min(n, len(all)) {
		i := d.IntN(len(all))
		chosen = append(chosen, all[i])
		all = slices.Delete(all, i, i+1)
	}
	if o.Arguments {
		if list := slices.DeleteFunc(argumentOps(), without); len(list) > 0 {
			chosen = append(chosen, pick(d.Rand, list))
		}
	}
	slices.SortStableFunc(chosen, func(a, b Operator) int { return a.stage - b.stage })
	if d.frame == nil {
		d.how = pick(d.Rand, []string{"raw", "split", "native"})
	}
	if d.how == "native" && slices.ContainsFunc(chosen, func(op Operator) bool { return !op.native }) {
		d.how = pick(d.Rand, []string{"raw", "split"})
	}
	for _, op := range chosen {
		before := d.state()
		op.do(d)
		if d.state() != before {
			fired = append(fired, op.ID)
		}
	}
	d.deliver()
	return fired
}

func (d *draft) state() string {
	return d.text() + d.how + d.finish + strconv.FormatBool(d.prefixed) + d.framed()
}

// deliver puts the turn into the fields in which it arrives.
func (d *draft) deliver() {
	if d.frame != nil {
		for i := range d.msgs {
			if d.msgs[i].kind == thought {
				d.thoughts += d.msgs[i].body
			}
		}
		d.content = d.framed()
		return
	}
	if d.half != nil && d.finish != "stop" { // it was cut: nothing of a header is left to read
		d.how, d.half = "split", nil
	}
	for i := range d.msgs {
		m := &d.msgs[i]
		switch {
		case d.how == "reasoning":
			d.thoughts += m.String()
		case d.how == "raw":
			d.content += m.String()
		case m.kind == thought:
			d.thoughts += m.before + m.body + m.behind
		case d.how == "native" && m.kind == call:
			n := Native{Name: m.space + m.name, Args: m.body}
			if d.half != nil {
				d.half(d, m, &n)
			}
			if n.Form != gone {
				d.native = append(d.native, n)
			}
			if d.finish == "stop" {
				d.finish = "tool_calls"
			}
		case d.how == "native" || m.kind == answer && d.how == "split":
			d.content += m.before + m.body + m.behind
		default:
			d.content += m.String()
		}
	}
	if !d.prefixed {
		for i := range d.native {
			d.native[i].Name = strings.TrimPrefix(d.native[i].Name, "functions.")
		}
	}
}

// cut ends the reply at a byte of what arrives. A call behind or around it must not run.
func (d *draft) cut(finish string) {
	text := d.text()
	if len(text) == 0 || d.late { // without its end the reply is ambiguous
		return
	}
	at, pos := 1+d.IntN(len(text)), 0
	d.finish = finish
	for i := range d.msgs {
		m := &d.msgs[i]
		whole := m.String()
		end := pos + len(whole)
		if end <= at {
			pos = end
			continue
		}
		written := max(at-pos, 0)
		if m.kind == call {
			object := len(m.before+m.header()+m.token) + len(m.body)
			args := string(d.calls[m.call].Args)
			meant := strings.Index(whole, args) // debris behind the arguments may be cut
			if (written < object || d.open || m.wrapped) && (meant < 0 || written < meant+len(args)) {
				d.lower(m.call, Never)
			} else {
				d.lower(m.call, May)
			}
		} else {
			d.visible = slices.DeleteFunc(d.visible, func(s string) bool { return s == m.body || m.negative })
			d.loose = true
		}
		*m = message{kind: m.kind, call: m.call, body: whole[:written]}
		pos = end
	}
}
