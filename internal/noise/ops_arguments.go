package noise

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// argumentOps are the damages of arguments: those of the table that reads them, and others that no
// reader can surely undo.
func argumentOps() []Operator {
	out := []Operator{
		argument("args.inner", "quotes inside a text are not escaped", func(d *draft, m *message) {
			if strings.Contains(m.body, `\"`) {
				m.body = strings.ReplaceAll(m.body, `\"`, `"`)
				d.lower(m.call, May)
			}
		}),
		argument("args.lost", "the last quote and brace are forgotten", func(d *draft, m *message) {
			if body, ok := strings.CutSuffix(m.body, `"}`); ok {
				d.unclosed(m, body)
			}
		}),
	}
	for _, row := range args.Ops() {
		if row.Damage == nil {
			continue
		}
		op := argument(row.ID, row.About, func(d *draft, m *message) {
			if d.frame != nil && d.frame.Argument+d.frame.Quote != "" {
				d.spoil(m, row)
				return
			}
			body, ok := row.Do(d.Rand, m.body)
			if !ok || row.Stream && d.how != "native" {
				return
			}
			if row.ID == jsonrepair.KindCloser && len(body) < len(m.body) {
				d.unclosed(m, body)
				return
			}
			if m.body = body; (row.Words || !row.Keeps) && d.calls[m.call].Class != Reads {
				d.lower(m.call, May)
			}
		})
		op.Server = row.Server
		out = append(out, op)
	}
	return out
}

func argument(id, about string, do func(d *draft, m *message)) Operator {
	op := each(slipArguments, id, about, do)
	op.native = true
	return op
}

// raw is a value as the model wrote it.
type raw string

// spoil damages the JSON of objects in arguments that are written one by one.
func (d *draft) spoil(m *message, row args.Op) {
	for i, f := range m.fields {
		if _, is := f.value.(map[string]any); !is || !strings.HasPrefix(row.ID, "json.") {
			continue
		}
		if body, ok := row.Do(d.Rand, quote(f.value)); ok {
			m.fields[i].value = raw(body)
			d.lower(m.call, May)
		}
	}
}

// unclosed removes the end of an object. Only a call that reads must survive it.
func (d *draft) unclosed(m *message, body string) {
	m.body, d.open = body, true
	if d.calls[m.call].Class != Reads {
		d.lower(m.call, May)
	}
}
