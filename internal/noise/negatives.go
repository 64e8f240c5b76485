package noise

import (
	"slices"
	"strings"
)

// negative draws a reply without a call.
func (d *draft) negative(c *Case) {
	d.turn(c)
	d.msgs, d.calls, d.visible, d.hidden = nil, nil, nil, nil
	all := slices.Concat(written().Negatives, written().Led)
	n := d.IntN(len(all))
	k := all[n]
	from := c.Tools
	if n >= len(written().Negatives) {
		from = slices.DeleteFunc(slices.Clone(c.Tools), func(t Tool) bool { return t.Class == Reads })
	}
	if len(from) == 0 {
		k, from = all[0], c.Tools
	}
	d.addCall(pick(d.Rand, from))
	m := d.msgs[0]
	object := `{"name": ` + quote(m.name) + `, "arguments": ` + m.body + "}"
	some := pick(d.Rand, []string{m.String(), m.mark + strings.TrimPrefix(m.String(), m.start+m.role+m.mark),
		object, "<tool_call>\n" + object + "\n</tool_call>", "commentary to=" + m.name + " code " + m.body})
	fill := strings.NewReplacer("{name}", m.name, "{args}", m.body, "{call}", m.String(), "{any}", some)
	d.msgs, d.calls = nil, nil
	c.Negative, c.User, d.user, d.late = k.ID, k.User, k.User, k.Before == ""
	say := pick(d.Rand, written().Talks)
	d.add(thought, say.Thought)
	d.hidden = []string{say.Thought}
	join := "\n\n"
	if !strings.ContainsAny(k.Middle, "\n") && d.IntN(2) == 0 {
		join = " "
	}
	var parts []string
	for _, p := range []string{fill.Replace(k.Before), fill.Replace(k.Middle), k.Behind} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	d.add(answer, strings.Join(parts, join))
	d.msgs[1].negative = true
	for _, p := range []string{fill.Replace(k.Before), k.Behind} {
		if p != "" {
			d.visible = append(d.visible, p)
		}
	}
	if len(d.visible) == 0 {
		d.visible = []string{fill.Replace(k.Middle)}
	}
}
