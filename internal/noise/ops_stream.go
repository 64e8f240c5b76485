package noise

import "strings"

// streamOps are what servers that hand on a stream leave in arguments, and what a model makes of the
// schema that it was shown.
func streamOps() []Operator {
	return []Operator{
		{ID: "stream-resumed", About: "a stream of arguments that was taken up again repeats their beginning", Server: true, stage: slipText, native: true, do: func(d *draft) {
			if d.how != "native" {
				return
			}
			d.eachCall(func(m *message) {
				if len(m.body) > 2 && strings.HasPrefix(m.body, "{") {
					m.body = m.body[:1+d.IntN(len(m.body)-1)] + m.body
				}
			})
		}},
		{ID: "stream-beat", About: "a line that keeps the stream open stands before the first value", Server: true, stage: slipText, native: true, do: func(d *draft) {
			d.eachCall(func(m *message) {
				m.body = strings.Replace(m.body, `":`, "\":: OPENROUTER PROCESSING\n\n", 1)
			})
		}},
		rewrite("json-schema-shaped", "the values stand where the schema has their types",
			func(m *message) string {
				return `{"type":"object","properties":` + m.body + `,"required":[]}`
			}),
	}
}
