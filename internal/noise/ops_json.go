package noise

import (
	"fmt"
	"strings"
)

// rewrite is a slip in how values are written: the object is written anew from what was meant.
func rewrite(id, about string, write func(m *message) string) Operator {
	return Operator{ID: id, About: about, stage: slipJSON, native: true, do: func(d *draft) {
		if d.rewritten {
			return
		}
		d.rewritten = d.eachCall(func(m *message) { m.body = write(m) })
	}}
}

func jsonOps() []Operator {
	raw := strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\t`, "\t")
	return []Operator{
		rewrite("json-python", "Python's literals and quotes",
			func(m *message) string { return object(m.fields, ": ", ", ", python) }),
		rewrite("json-bare-keys", "keys without quotes", func(m *message) string {
			parts := make([]string, len(m.fields))
			for i, f := range m.fields {
				parts[i] = f.key + ": " + quote(f.value)
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}),
		rewrite("json-raw-newlines", "line ends and tabs stand raw in texts",
			func(m *message) string { return raw.Replace(m.body) }),
		rewrite("json-no-commas", "a line end in place of each comma",
			func(m *message) string { return object(m.fields, ": ", "\n", quote) }),
		rewrite("json-equals", "= in place of the colon",
			func(m *message) string { return object(m.fields, "=", ", ", quote) }),
		rewrite("json-pretty", "blanks and line ends between",
			func(m *message) string { return object(m.fields, " : ", ",\n  ", quote) }),
		rewrite("json-trailing-comma", "a comma before the end",
			func(m *message) string { return strings.TrimSuffix(m.body, "}") + ",}" }),
		rewrite("json-double-comma", "two commas between",
			func(m *message) string { return object(m.fields, ": ", ",, ", quote) }),
		rewrite("json-slash-comment", "a // comment behind the first brace",
			func(m *message) string { return "{ // arguments\n" + m.body[1:] }),
		rewrite("json-block-comment", "a /* comment */ before the end",
			func(m *message) string { return m.body[:len(m.body)-1] + " /* done */}" }),
		rewrite("json-hash-comment", "a # comment in a line of its own",
			func(m *message) string { return "{\n# the arguments\n" + m.body[1:] }),
		rewrite("json-encoded", "the object is a JSON text",
			func(m *message) string { return quote(m.body) }),
		rewrite("json-encoded-thrice", "the object is encoded three times",
			func(m *message) string { return quote(quote(quote(m.body))) }),
		rewrite("json-escaped-quote", `an apostrophe is escaped`,
			func(m *message) string { return strings.ReplaceAll(m.body, "'", `\'`) }),
		rewrite("json-ascii", "everything beyond ASCII is escaped",
			func(m *message) string { return ascii(m.body) }),
		rewrite("json-list", "the object in a list of one",
			func(m *message) string { return "[" + m.body + "]" }),
		rewrite("json-arguments-key", "the object below a key arguments",
			func(m *message) string { return `{"arguments": ` + m.body + "}" }),
		rewrite("json-numbers-as-text", "numbers and truths are texts", func(m *message) string {
			return object(m.fields, ": ", ", ", func(v any) string {
				switch v.(type) {
				case int, int64, float64, bool:
					return quote(quote(v))
				}
				return quote(v)
			})
		}),
		{ID: "json-smart-quotes", About: "typographic quotes", stage: slipJSON, native: true, do: func(d *draft) {
			if d.rewritten {
				return
			}
			d.rewritten = d.eachCall(func(m *message) {
				if strings.Contains(m.body, `\"`) {
					d.lower(m.call, May)
				}
				left := true
				plain := strings.NewReplacer(`\"`, `\"`).Replace(m.body)
				var b strings.Builder
				for i := 0; i < len(plain); i++ {
					switch {
					case plain[i] == '\\' && i+1 < len(plain):
						b.WriteString(plain[i : i+2])
						i++
					case plain[i] == '"' && left:
						b.WriteString("“")
						left = false
					case plain[i] == '"':
						b.WriteString("”")
						left = true
					default:
						b.WriteByte(plain[i])
					}
				}
				m.body = b.String()
			})
		}},
		{ID: "json-unescaped-quotes", About: "quotes inside a text are not escaped", stage: slipJSON, native: true, do: func(d *draft) {
			if d.rewritten {
				return
			}
			d.rewritten = d.eachCall(func(m *message) {
				if strings.Contains(m.body, `\"`) {
					m.body = strings.ReplaceAll(m.body, `\"`, `"`)
					d.lower(m.call, May)
				}
			})
		}},
	}
}

// python writes a value as Python would.
func python(v any) string {
	switch v := v.(type) {
	case string:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(v) + "'"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case nil:
		return "None"
	}
	return quote(v)
}

func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// around is a slip around the object.
func around(id, about string, do func(d *draft, m *message)) Operator {
	return Operator{ID: id, About: about, stage: slipText, native: true,
		do: func(d *draft) { d.eachCall(func(m *message) { do(d, m) }) }}
}

// open takes the end off an object. Only a call that reads must survive it.
func (d *draft) unclose(m *message, end string) {
	if cutBody, ok := strings.CutSuffix(m.body, end); ok {
		m.body, d.open = cutBody, true
		if d.calls[m.call].Class != Reads {
			d.lower(m.call, May)
		}
	}
}

func bodyOps() []Operator {
	return []Operator{
		around("body-fence", "a fence around the object",
			func(d *draft, m *message) { m.body = "```json\n" + m.body + "\n```" }),
		around("body-trailing-text", "a sentence behind the object",
			func(d *draft, m *message) { m.body += "\n\nThis should work." }),
		around("body-trailing-brace", "one brace too many", func(d *draft, m *message) { m.body += "}" }),
		around("body-leading-word", "a word before the object", func(d *draft, m *message) {
			m.lead += pick(d.Rand, []string{"json", "code", "arguments", "input"}) + " "
		}),
		around("body-leading-label", "a word and a mark before the object", func(d *draft, m *message) {
			m.lead += pick(d.Rand, []string{"json = ", "code: ", "arguments: ", "args=", "json\r\n", "参数：",
				"аргументы: "})
		}),
		around("body-leading-debris", "foreign letters before the object",
			func(d *draft, m *message) { m.lead += pick(d.Rand, []string{"彩票", "】【", "…", " ", "\ufeff"}) }),
		around("body-doubled", "the same object twice", func(d *draft, m *message) { m.body += m.body }),
		around("body-no-brace", "the last brace is forgotten",
			func(d *draft, m *message) { d.unclose(m, "}") }),
		around("body-no-quote", "the last quote and brace are forgotten",
			func(d *draft, m *message) { d.unclose(m, `"}`) }),
		around("body-crlf", "CRLF around the object",
			func(d *draft, m *message) { m.lead, m.body = "\r\n"+m.lead, m.body+"\r\n" }),
	}
}
