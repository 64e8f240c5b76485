package noise

// half leaves calls as a server that parses them only partly.
func half(id, about string, owed Standing, f func(d *draft, m *message, n *Native)) Operator {
	return Operator{ID: "half-" + id, About: about, Server: true, stage: delivery, native: true,
		do: func(d *draft) {
			for i := range d.msgs {
				if d.msgs[i].kind == call && (d.msgs[i].wrapped || d.open) {
					return
				}
			}
			if len(d.calls) == 0 || d.how == "reasoning" {
				return
			}
			d.how, d.half = "native", f
			for i := range d.calls {
				d.lower(i, owed)
			}
		}}
}

func halfOps() []Operator {
	return []Operator{
		half("arguments", "the name is read, the arguments stay in the text", May,
			func(d *draft, _ *message, n *Native) {
				d.content, n.Args = d.content+n.Args, ""
			}),
		half("thoughts", "the name is read, the arguments arrive as reasoning", May,
			func(d *draft, _ *message, n *Native) {
				d.thoughts, n.Args, d.loose = d.thoughts+n.Args, "", true
			}),
		half("split", "the end of the arguments stays in the text", May,
			func(d *draft, _ *message, n *Native) {
				at := d.IntN(len(n.Args) + 1)
				d.content, n.Args = d.content+n.Args[at:], n.Args[:at]
			}),
		half("both", "the call is read, and stays in the text, too", Must,
			func(d *draft, m *message, _ *Native) {
				d.content += m.String()
			}),
		half("twice", "each call is read twice", Must, func(d *draft, _ *message, n *Native) {
			d.native = append(d.native, *n)
		}),
		half("object", "the arguments are an object, not a text of one", Must,
			func(_ *draft, _ *message, n *Native) { n.Form = "object" }),
		half("flat", "name and arguments stand beside each other", Must,
			func(_ *draft, _ *message, n *Native) { n.Form = "flat" }),
		half("markup", "the header's tokens stay in the name", Must, func(d *draft, m *message, n *Native) {
			n.Name += pick(d.Rand, []string{"<|channel|>commentary", " <|constrain|>json",
				"<|constrain|>json", "<|message|>", "<|channel|>", " json"})
		}),
		half("tail", "the end of the message stays in the arguments", Must,
			func(d *draft, m *message, n *Native) {
				n.Args += pick(d.Rand, []string{"<|call|>", "<|end|>", "<|call|><|start|>assistant",
					"<|call|>commentary"})
			}),
	}
}
