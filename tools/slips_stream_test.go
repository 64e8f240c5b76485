package tools

import (
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// streamSlips are what streams, other languages and schemas do to arguments.
var streamSlips = []slip{
	{"resumed", func(d *drawn) {
		n := 1 + d.r.IntN(3)
		d.then(func(s string) string {
			text := ""
			for range n {
				text += s[:d.r.IntN(len(s)+1)]
			}
			return text + s
		})
	}},
	{"resumed and cut", func(d *drawn) {
		d.end = Ending{How: Cut}
		d.then(func(s string) string { return s[:d.r.IntN(len(s)+1)] + s[:d.r.IntN(len(s)+1)] })
	}},
	{"beat between", func(d *drawn) { d.comment(beats[d.r.IntN(len(beats))]) }},
	{"beat anywhere", func(d *drawn) {
		d.then(func(s string) string { return inserted(d, s, beats[d.r.IntN(4)]) })
	}},
	{"chunks", func(d *drawn) {
		eaten := d.r.IntN(2) == 0
		d.then(func(s string) string {
			if s == "" {
				return s
			}
			at := 1 + d.r.IntN(len(s))
			text := fmt.Sprintf("%x\r\n%s\r\n", at, s[:at])
			if at < len(s) {
				text += fmt.Sprintf("%x\r\n%s\r\n", len(s)-at, s[at:])
			}
			if _, rest, _ := strings.Cut(text, "\r\n"); eaten {
				return rest + "0\r\n\r\n"
			}
			return text + "0\r\n\r\n"
		})
	}},
	{"token between", func(d *drawn) {
		d.comment([]string{"<|constrain|>", "<|message|>", "<|call|>", "</s>", "<｜tool▁sep｜>"}[d.r.IntN(5)])
	}},
	{"raw prefix", func(d *drawn) {
		if m := d.texts(); !m.quoted && !strings.ContainsAny(m.plain, "\"\n\t") {
			m.value, m.quoted = []string{"r", "R", "rb"}[d.r.IntN(3)]+`"`+m.plain+`"`, true
		}
	}},
	{"raw prefix, other quotes", func(d *drawn) {
		if m := d.texts(); !m.quoted && !strings.ContainsAny(m.plain, "'\n\t") {
			m.value, m.quoted = "r'"+m.plain+"'", true
		}
	}},
	{"verbatim", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string { return `@"` + strings.ReplaceAll(m.plain, `"`, `""`) + `"` })
	}},
	{"prefix", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string {
			return []string{"u", "b", "f", "$", "L"}[d.r.IntN(5)] + m.value
		})
	}},
	{"literals in lines", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string {
			return parted(d,
				m.plain, "\n  ")
		})
	}},
	{"literals with a plus", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string {
			return parted(d,
				m.plain, " + ")
		})
	}},
	{"literals in parentheses", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string { return "(" + parted(d, m.plain, " ") + ")" })
	}},
	{"number of a program", func(d *drawn) {
		for i := range d.members {
			if m := &d.members[i]; !m.isText && m.value[0]-'0' <= 9 {
				var n int
				fmt.Sscan(m.value, &n)
				m.value = []string{fmt.Sprintf("%#x", n), "+" + m.value, m.value + ".", fmt.Sprintf("%#b", n),
					fmt.Sprintf("0o%o", n)}[d.r.IntN(5)]
			}
		}
	}},
	{"semicolon", func(d *drawn) { d.some().comma = ";" }},
	{"Arabic comma", func(d *drawn) { d.some().comma = "، " }},
	{"end said", func(d *drawn) {
		d.wrap("", []string{" # end", "\n// end of arguments",
			" /* done */"}[d.r.IntN(3)])
	}},
	{"serializer", func(d *drawn) {
		w := [][2]string{{"JSON.stringify(", ");"}, {"json.dumps(", ", indent=2)"}, {"Object.freeze(", ")"},
			{"new Map(Object.entries(", "))"}, {"dict(", ")"}}[d.r.IntN(5)]
		d.wrap(w[0], w[1])
	}},
	{"undefined", func(d *drawn) {
		if strings.HasPrefix(d.tool.spec, "exec") && len(d.members) < 3 {
			d.members[len(d.members)-1].comma = `,"timeout":` + []string{"undefined", "None", "nil",
				"NaN"}[d.r.IntN(4)]
		}
	}},
	{"sign on a key", func(d *drawn) {
		if d.tool.spec == "free" {
			return
		}
		m := d.some()
		name := []string{m.name + "?", "*" + m.name, m.name + ":", m.name + " ", "args." + m.name,
			m.name + "[]"}[d.r.IntN(6)]
		m.key = jsontext.Quote(name)
	}},
	{"as a schema", func(d *drawn) {
		if d.tool.spec != "free" {
			d.wrap(`{"type":"object","properties":`, `,"required":["x"]}`)
		}
	}},
	{"block of YAML", func(d *drawn) {
		d.then(func(string) string {
			var b strings.Builder
			for _, m := range d.members {
				switch {
				case m.isText:
					b.WriteString(m.name + ": |-\n  " + strings.ReplaceAll(m.plain, "\n", "\n  ") + "\n")
				default:
					b.WriteString(m.name + ": " + m.value + "\n")
				}
			}
			return b.String()
		})
		d.lone = true // nothing of it is JSON any more
	}},
}

// beats keep a stream of events open.
var beats = []string{": OPENROUTER PROCESSING\n\n", ": keep-alive\n\n", "\n: ping\n\n",
	": ping - 2026-01-01 00:00:00+00:00\r\n\r\n", "\n: still there\n\n",
	"event: ping\ndata: {\"type\": \"ping\"}\n\n"}

func inserted(d *drawn, s, what string) string {
	at := d.r.IntN(len(s) + 1)
	return s[:at] + what + s[at:]
}

// parted is a text in two literals.
func parted(d *drawn, plain, between string) string {
	all := []rune(plain)
	at := d.r.IntN(len(all) + 1)
	return jsontext.Quote(string(all[:at])) + between + jsontext.Quote(string(all[at:]))
}
