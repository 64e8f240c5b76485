package noise

import "strings"

func each(stage int, id, about string, do func(d *draft, m *message)) Operator {
	return Operator{ID: id, About: about, stage: stage,
		do: func(d *draft) { d.eachCall(func(m *message) { do(d, m) }) }}
}

func nameOps() []Operator {
	n := func(id, about string, do func(d *draft, m *message)) Operator {
		op := each(slipHeader, id, about, do)
		op.native = true
		return op
	}
	return []Operator{
		n("name-upper", "the name in capitals",
			func(d *draft, m *message) { m.name = strings.ToUpper(m.name) }),
		n("name-dashes", "dashes for underscores",
			func(d *draft, m *message) { m.name = strings.ReplaceAll(m.name, "_", "-") }),
		n("name-dots", "a dot for two underscores",
			func(d *draft, m *message) { m.name = strings.ReplaceAll(m.name, "__", ".") }),
		n("name-camel", "camel case", func(d *draft, m *message) { m.name = camel(m.name) }),
		n("name-prefix", "a foreign namespace", func(d *draft, m *message) {
			m.space = pick(d.Rand, []string{"function.", "tools.", "tool.", "default_api."})
		}),
		n("name-twice-prefixed", "the namespace twice",
			func(d *draft, m *message) { m.space, d.prefixed = "functions.functions.", true }),
		n("name-kept-prefix", "the server keeps the namespace",
			func(d *draft, m *message) { d.prefixed = true }),
		n("name-token-suffix", "a token glued to the name", func(d *draft, m *message) {
			m.name += pick(d.Rand, []string{"<|channel|>commentary", "<|channel|>json", "<|constrain|>json",
				"<|channel|>analysis"})
		}),
		n("name-word-suffix", "a word glued to the name",
			func(d *draft, m *message) {
				m.name += pick(d.Rand, []string{"json", "commentary", "?", ":", "()"})
			}),
		n("name-quoted", "the name in quotes", func(d *draft, m *message) { m.name = `"` + m.name + `"` }),
	}
}

func camel(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '_' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func headerOps() []Operator {
	h := func(id, about string,
		do func(d *draft, m *message)) Operator {
		return each(slipHeader, id, about, do)
	}
	return []Operator{
		h("head-recipient-in-role", "the recipient behind the role",
			func(d *draft, m *message) { m.order = "role" }),
		h("head-recipient-after-type", "the recipient behind the content type",
			func(d *draft, m *message) { m.order = "type" }),
		h("head-channel-late", "the channel behind the recipient, without its token",
			func(d *draft, m *message) { m.order = "recipient" }),
		h("head-analysis", "a call on the analysis channel",
			func(d *draft, m *message) { m.channel = "analysis" }),
		h("head-final", "a call on the final channel", func(d *draft, m *message) { m.channel = "final" }),
		h("head-channel-case", "the channel in capitals",
			func(d *draft, m *message) { m.channel = "Commentary" }),
		h("head-channel-typo", "a slip in the channel's name", func(d *draft, m *message) {
			m.channel = pick(d.Rand, []string{"comment", "commentarry", "comentary", "commentary_", "tool"})
		}),
		h("head-no-channel", "no channel", func(d *draft, m *message) { m.mark, m.channel = "", "" }),
		h("head-no-type", "no content type", func(d *draft, m *message) { m.ctype = "" }),
		h("head-bare-type", "the content type without its token",
			func(d *draft, m *message) { m.ctype = " json" }),
		h("head-code-type", "another content type", func(d *draft, m *message) {
			m.ctype = pick(d.Rand, []string{" code", " <|constrain|>code", " <|constrain|>JSON",
				" application/json"})
		}),
		h("head-type-glued", "no blank before the content type",
			func(d *draft, m *message) { m.ctype = strings.TrimPrefix(m.ctype, " ") }),
		h("head-blank-equals", "blanks around =", func(d *draft, m *message) { m.to = "to = " }),
		h("head-to-colon", "a colon in place of =", func(d *draft, m *message) { m.to = "to:" }),
		h("head-recipient-word", "recipient= in place of to=",
			func(d *draft, m *message) { m.to = "recipient=" }),
		h("head-no-namespace", "no namespace", func(d *draft, m *message) { m.space = "" }),
		h("head-lost-piece", "a piece of the recipient is lost", func(d *draft, m *message) {
			lost := pick(d.Rand, [][2]string{{"=", "functions."}, {"to", "functions."}, {"to=", "functions"},
				{"to=", "."}, {"to", "."}, {"to", ""}})
			m.to, m.space = lost[0], lost[1]
		}),
		h("head-debris", "debris behind the recipient", func(d *draft, m *message) {
			m.ctype = pick(d.Rand, []string{" 彩神争霸", " ->", " code:", " ,", " (json)"}) + m.ctype
		}),
		h("head-line-ends", "line ends in the header",
			func(d *draft, m *message) { m.glue, m.token = "\n", "\r\n"+m.token }),
		h("head-glued", "no blank before the recipient", func(d *draft, m *message) { m.glue = "" }),
		h("head-no-message", "the message token is missing", func(d *draft, m *message) { m.token = "" }),
		h("head-two-channels", "the channel token twice",
			func(d *draft, m *message) { m.channel = "analysis" + m.mark + m.channel }),
		h("head-after-sentence", "a sentence before the header",
			func(d *draft, m *message) { m.before, m.start, m.role = "Let me check that. ", "", "" }),
		h("head-after-lead-in", "a line before the first call says that it is made",
			func(d *draft, m *message) {
				if say := pick(d.Rand, written().Talks); m.call == 0 {
					m.before = strings.TrimRight(say.Preamble, ".。") + pick(d.Rand,
						[]string{":\n\n", ":\n", ": ",
							".\n\n"})
				}
			}),
		h("head-after-remark", "a line before the first call that speaks of something else",
			func(d *draft, m *message) {
				if say := pick(d.Rand, written().Remarks); m.call == 0 {
					m.before = say + pick(d.Rand, []string{"\n\n", "\n", " "})
				}
			}),
		h("head-signs", "signs without meaning before the header", func(d *draft, m *message) {
			m.before = pick(d.Rand, []string{"+#+#+#+#+#+", "+#+#+#+#+#+ ", "-----", "====="})
		}),
		h("head-role-typo", "a foreign role", func(d *draft, m *message) {
			m.role = pick(d.Rand, []string{"tool", "commentary", "Assistant", "assistant:"})
		}),
		h("close-end", "end in place of call", func(d *draft, m *message) { m.closer = "<|end|>" }),
		h("close-return", "return in place of call", func(d *draft, m *message) { m.closer = "<|return|>" }),
		h("close-twice", "the closing token twice", func(d *draft, m *message) { m.closer += m.closer }),
		h("close-none", "no closing token", func(d *draft, m *message) { m.closer = "" }),
	}
}

func orderOps() []Operator {
	return []Operator{
		{ID: "order-thought-last", About: "the thoughts behind the calls", stage: slipHeader, do: func(d *draft) {
			if len(d.msgs) > 1 && d.msgs[0].kind == thought {
				d.msgs = append(d.msgs[1:len(d.msgs):len(d.msgs)], d.msgs[0])
			}
		}},
		{ID: "order-thought-loop", About: "the thoughts again and again", stage: slipHeader, do: func(d *draft) {
			if d.msgs[0].kind == thought {
				d.msgs[0].body = strings.Repeat(d.msgs[0].body+" ", 2+d.IntN(6))
			}
		}},
		{ID: "order-invented-result", About: "an invented result behind the call", stage: slipHeader, do: func(d *draft) {
			d.eachCall(func(m *message) {
				m.behind = "<|start|>functions." + m.name +
					" to=assistant<|channel|>commentary<|message|>{\"ok\": true}<|end|>"
				if m.call > 0 {
					d.lower(m.call, May) // it rests on what was invented
				}
			})
		}},
		{ID: "order-echo", About: "the request is echoed first", stage: slipHeader, do: func(d *draft) {
			d.msgs[0].before = "<|start|>user<|message|>" + d.user + "<|end|>" + d.msgs[0].before
		}},
	}
}
