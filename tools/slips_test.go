package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// pieces are what values are made of: whatever looks like JSON, comments, quotes or
// escapes, as it stands in shell, code, paths and pages.
var pieces = []string{
	`echo "hi there"`, `grep -c '#' notes.txt`, `# a note`, ` // why`, `C:\new\tables`, "\n", `{a: 1}`, `}`,
	`"}`, `$5.00`, `1,234`,
	`color: #fff;`, `https://a.example/c?d=1&e=2#f`, `sed 's/\(a\)/\1/g' f`, `^\d+\.\w*$`, `ls -la | wc -l`,
	`"a": "b",`, `<div class="x">`,
	`&amp;`, `%20`, `/* c */`, `it's`, "`date`", `“x”`, `, `, `: `, `[1, 2]`, "```", `null`, "\t", `größe`,
	`\`, `\n`, `'`, `"`, `a, b`, `x = 1`,
	`print("done")`, `ls`, `cat a.txt`, `tide table`, `report.md`, `],`, `{"k": "v"}`, `--flag="a b"`, `true`,
	`+358401`, `0x1F`, `1_000`, `: ping`, `{`, `//cdn.example/x.js`, `#!/bin/sh`,
}

// drawnTool is a tool, and the parameters that a drawn call of it gives.
type drawnTool struct {
	spec  string
	names []string // "#" behind one marks a number, "?" a boolean
}

var drawnTools = []drawnTool{
	{"exec(command:string! workdir:string timeout:integer)", []string{"command", "workdir", "timeout#"}},
	{"run_terminal_command(command:string!)", []string{"command"}},
	{"write(path:string! content:string! append:boolean)", []string{"path", "content", "append?"}},
	{"edit(path:string! old:string! new:string!)", []string{"path", "old", "new"}},
	{"python(code:string!)", []string{"code"}},
	{"search(query:string! count:integer)", []string{"query", "count#"}},
	{"read(path:string!)", []string{"path"}},
	{"free", []string{"a", "b", "c#"}},
}

// drawn is one call as a model means it, in the pieces that slips change.
type drawn struct {
	r       *rand.Rand
	tool    drawnTool
	members []drawnMember
	open    string // the brace before the members
	shut    string // the brace behind them
	text    func(string) string
	end     Ending
	lone    bool // nothing but a value is left: what stands around it could be part of it
}

type drawnMember struct {
	key, colon, value, comma string // as JSON, changed by slips
	name, plain              string // what is meant; plain is empty for a scalar
	isText                   bool
	quoted                   bool // a slip has changed its quotes
}

func draw(r *rand.Rand) *drawn {
	d := &drawn{r: r, tool: drawnTools[r.IntN(len(drawnTools))], open: "{", shut: "}",
		text: func(s string) string { return s }, end: closed}
	most := 1 + r.IntN(len(d.tool.names))
	if strings.HasPrefix(d.tool.spec, "write") || strings.HasPrefix(d.tool.spec, "edit") {
		most = max(most, strings.Count(d.tool.spec, "!"))
	}
	for _, name := range d.tool.names[:most] {
		m := drawnMember{colon: ":", comma: ","}
		if r.IntN(2) == 0 {
			m.colon, m.comma = ": ", ", "
		}
		switch stem := strings.TrimRight(name, "#?"); {
		case strings.HasSuffix(name, "#"):
			m.name, m.value = stem, fmt.Sprint(r.IntN(500))
		case strings.HasSuffix(name, "?"):
			m.name, m.value = stem, fmt.Sprint(r.IntN(2) == 0)
		default:
			m.name, m.isText, m.plain = name, true, d.word()
			m.value = jsontext.Quote(m.plain)
		}
		m.key = jsontext.Quote(m.name)
		d.members = append(d.members, m)
	}
	d.members[len(d.members)-1].comma = ""
	return d
}

// word is a value of one to four pieces, without blanks around it.
func (d *drawn) word() string {
	for {
		var out []string
		for range 1 + d.r.IntN(4) {
			out = append(out, pieces[d.r.IntN(len(pieces))])
		}
		if text := strings.TrimSpace(strings.Join(out, []string{"", " "}[d.r.IntN(2)])); text != "" {
			return text
		}
	}
}

func (d *drawn) String() string {
	var out strings.Builder
	out.WriteString(d.open)
	for _, m := range d.members {
		out.WriteString(m.key + m.colon + m.value + m.comma)
	}
	return d.text(out.String() + d.shut)
}

// some is one of the members; texts: one whose value is text.
func (d *drawn) some() *drawnMember { return &d.members[d.r.IntN(len(d.members))] }

func (d *drawn) texts() *drawnMember {
	for {
		if m := d.some(); m.isText {
			return m
		}
	}
}

func (d *drawn) then(f func(string) string) {
	if d.lone {
		return
	}
	before := d.text
	d.text = func(s string) string { return f(before(s)) }
}

func (d *drawn) wrap(before, after string) {
	d.then(func(s string) string { return before + s + after })
}

// comment puts a comment at a place between the tokens of the object.
func (d *drawn) comment(text string) {
	m := d.some()
	switch d.r.IntN(6) {
	case 0:
		d.open += text
	case 1:
		m.colon = text + m.colon
	case 2:
		m.colon += text
	case 3:
		m.comma = text + m.comma
	case 4:
		m.comma += text
	case 5:
		d.shut = text + d.shut
	}
}

// word of a comment, with what misleads a reader in it.
func (d *drawn) remark() string {
	return []string{"list all", `the "quoted" one`, "it's, here", `"a": 1,`, "x}", "", `say "x`}[d.r.IntN(7)]
}

// slip is one thing that models and servers do to arguments.
type slip struct {
	name string
	do   func(d *drawn)
}

var slips = []slip{
	{"no closer", func(d *drawn) { d.shut = "" }},
	{"no last quote", func(d *drawn) {
		if m := &d.members[len(d.members)-1]; m.isText && !m.quoted {
			m.value, m.quoted = strings.TrimSuffix(m.value, `"`), true
		}
	}},
	{"no closing quote",
		func(d *drawn) {
			d.unquoted(func(m *drawnMember) string {
				return strings.TrimSuffix(m.value,
					`"`)
			})
		}},
	{"no opening quote",
		func(d *drawn) {
			d.unquoted(func(m *drawnMember) string {
				return strings.TrimPrefix(m.value,
					`"`)
			})
		}},
	{"no quotes", func(d *drawn) { d.bare(func(m *drawnMember) string { return inside(m.value) }) }},
	{"raw without quotes", func(d *drawn) { d.bare(func(m *drawnMember) string { return m.plain }) }},
	{"bare key", func(d *drawn) { m := d.some(); m.key = m.name }},
	{"single quoted key", func(d *drawn) { m := d.some(); m.key = "'" + m.name + "'" }},
	{"half quoted key", func(d *drawn) { m := d.some(); m.key = m.name + `"` }},
	{"single quotes", func(d *drawn) {
		d.unquoted(func(m *drawnMember) string {
			return "'" + strings.NewReplacer(`\\`, `\\`, `\"`, `"`, `'`, `\'`).Replace(inside(m.value)) + "'"
		})
	}},
	{"raw single quotes",
		func(d *drawn) { d.unquoted(func(m *drawnMember) string { return "'" + m.plain + "'" }) }},
	{"curly quotes",
		func(d *drawn) { d.unquoted(func(m *drawnMember) string { return "“" + inside(m.value) + "”" }) }},
	{"backticks",
		func(d *drawn) { d.unquoted(func(m *drawnMember) string { return "`" + inside(m.value) + "`" }) }},
	{"triple quotes",
		func(d *drawn) { d.unquoted(func(m *drawnMember) string { return `"""` + m.plain + `"""` }) }},
	{"doubled quotes",
		func(d *drawn) { d.unquoted(func(m *drawnMember) string { return `"` + m.value + `"` }) }},
	{"no comma", func(d *drawn) { d.some().comma = " " }},
	{"trailing comma", func(d *drawn) { d.members[len(d.members)-1].comma = "," }},
	{"double comma", func(d *drawn) { d.some().comma += "," }},
	{"no colon", func(d *drawn) { d.some().colon = " " }},
	{"equals", func(d *drawn) { d.some().colon = "=" }},
	{"arrow", func(d *drawn) { d.some().colon = "=>" }},
	{"bare inner quotes", func(d *drawn) {
		if m := d.texts(); !m.quoted {
			m.value = strings.NewReplacer(`\\`, `\\`, `\"`, `"`).Replace(m.value)
		}
	}},
	{"raw lines", func(d *drawn) {
		if m := d.texts(); !m.quoted {
			m.value = strings.NewReplacer(`\\`, `\\`, `\n`, "\n").Replace(m.value)
		}
	}},
	{"bare backslashes", func(d *drawn) {
		m := d.texts()
		if m.quoted {
			return
		}
		if bare := strings.ReplaceAll(m.value, `\\`, `\`); !json.Valid([]byte(bare)) {
			m.value = bare
		}
	}},
	{"hash comment", func(d *drawn) { d.comment(" # " + d.remark() + "\n") }},
	{"hash without blank", func(d *drawn) { d.comment(" #" + d.remark() + "\n") }},
	{"slash comment", func(d *drawn) { d.comment(" // " + d.remark() + "\n") }},
	{"block comment", func(d *drawn) { d.comment(" /* " + d.remark() + " */ ") }},
	{"comment to the end", func(d *drawn) { d.comment(" # " + d.remark()) }},
	{"python literals", func(d *drawn) {
		m := d.some()
		m.value = strings.NewReplacer("true", "True", "false", "False").Replace(m.value)
		if m.isText {
			m.value = jsontext.Quote(m.plain)
		}
	}},
	{"number as text", func(d *drawn) {
		if m := d.some(); !m.isText && d.tool.spec != "free" {
			m.value = jsontext.Quote(m.value)
		}
	}},
	{"bracket for brace", func(d *drawn) { d.shut = "]" }},
	{"closer twice", func(d *drawn) { d.shut += "}" }},
	{"stray quote", func(d *drawn) { d.shut = `"` + d.shut }},
	{"encoded", func(d *drawn) { d.then(jsontext.Quote) }},
	{"encoded twice", func(d *drawn) { d.then(jsontext.Quote); d.then(jsontext.Quote) }},
	{"encoded thrice",
		func(d *drawn) { d.then(jsontext.Quote); d.then(jsontext.Quote); d.then(jsontext.Quote) }},
	{"escaped", func(d *drawn) {
		d.then(func(s string) string {
			if !strings.Contains(s, `"`) {
				return s
			}
			return inside(jsontext.Quote(s))
		})
	}},
	{"quoted as it is", func(d *drawn) {
		d.then(func(s string) string {
			if !strings.Contains(s, `"`) {
				return s
			}
			return `"` + s + `"`
		})
	}},
	{"URL encoded", func(d *drawn) { d.then(url.QueryEscape) }},
	{"path encoded", func(d *drawn) { d.then(url.PathEscape) }},
	{"HTML encoded", func(d *drawn) { d.then(html.EscapeString) }},
	{"base64",
		func(d *drawn) { d.then(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }) }},
	{"list", func(d *drawn) { d.wrap("[", "]") }},
	{"fence", func(d *drawn) { d.wrap("```json\n", "\n```") }},
	{"half fence", func(d *drawn) { d.wrap("```json\n", "") }},
	{"glued", func(d *drawn) { d.wrap("json", "") }},
	{"glued with a colon", func(d *drawn) {
		d.wrap([]string{"json: ", "code: ", "arguments=", "json = ",
			": "}[d.r.IntN(5)], "")
	}},
	{"prose before", func(d *drawn) { d.wrap("Here it is: ", "") }},
	{"prose behind", func(d *drawn) { d.wrap("", "\nThat should do.") }},
	{"called", func(d *drawn) { d.wrap("call(", ")") }},
	{"cut", func(d *drawn) {
		d.end = Ending{How: Cut}
		d.then(func(s string) string { return s[:d.r.IntN(len(s)+1)] })
	}},
	{"alone", func(d *drawn) { d.alone("", "") }},
	{"alone in quotes", func(d *drawn) {
		if !strings.Contains(d.members[0].plain, `\`) {
			d.alone(`"`, `"`)
		}
	}},
	{"alone as JSON", func(d *drawn) { d.alone("", ""); d.encode() }},
	{"alone in a fence", func(d *drawn) {
		if !strings.HasPrefix(d.members[0].plain, `"`) {
			d.alone("```sh\n", "\n```")
		}
	}},
	{"alone behind a word", func(d *drawn) {
		d.alone([]string{"code: ", "json=", ": ", "=",
			"command: "}[d.r.IntN(5)], "")
	}},
	{"alone, lone quote", func(d *drawn) {
		if !strings.Contains(d.members[0].plain, `"`) {
			d.alone(`"`, "")
		}
	}},
	{"a remark", func(d *drawn) {
		d.then(func(string) string { return remarks[d.r.IntN(len(remarks))] })
		d.lone = true
	}},
}

// encode makes a string of JSON of the one value that is left.
func (d *drawn) encode() {
	before := d.text
	if d.lone {
		d.text = func(s string) string { return jsontext.Quote(before(s)) }
	}
}

// inside is what stands between the quotes of a JSON string.
func inside(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`) }

// unquoted is a text whose quotes no slip has changed yet.
func (d *drawn) unquoted(change func(m *drawnMember) string) {
	if m := d.texts(); !m.quoted && strings.HasPrefix(m.value, `"`) {
		m.value, m.quoted = change(m), true
	}
}

// bare takes the quotes off a text, unless it is JSON then.
func (d *drawn) bare(value func(*drawnMember) string) {
	m := d.texts()
	if text := value(m); !m.quoted && !json.Valid([]byte(text)) && !strings.ContainsAny(text[:1], "\"'`{[") &&
		!strings.HasPrefix(text, "“") {
		m.value, m.quoted = text, true
	}
}

// alone leaves nothing but the first value, as text.
func (d *drawn) alone(before, after string) {
	plain := d.members[0].plain
	if d.tool.spec == "free" {
		return // it takes objects
	}
	d.then(func(string) string { return before + plain + after })
	d.lone = true
}

// remarks are what models write where arguments should stand.
var remarks = []string{
	"Sorry, I cannot do that.", "I will list the files now", "list the files in this folder", "No.",
	"Das kann ich leider nicht tun.",
	"je vais lister les fichiers", "nie mogę tego zrobić", "わかりました。", "Let me run ls -la to see",
	"what should I do next?", "He said: wait",
	"мне нужно посмотреть", "the command is `ls`", "Running the tests…", "I can't",
	"saya tidak bisa melakukan itu", "(no arguments)", "<none>", "- ls\n- pwd",
}
