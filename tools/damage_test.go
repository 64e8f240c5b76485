package tools

import (
	"strings"
	"testing"
)

// What streams, other languages and schemas do to arguments, a kind at a time. What is certain is read
// for every class; what is likely only where a wrong value does no harm.
func TestDamage(t *testing.T) {
	const (
		list  = "list_files(path:string recursive:boolean depth:integer)"
		write = "write(path:string! content:string! append:boolean)"
		city  = "get_weather(city:string!)"
		call  = "dial(phone:string! pause:integer)"
	)
	for _, row := range []struct{ tool, args, want string }{
		// A stream that was taken up again, and snapshots that are joined.
		{findTool, `{"query":"helsinki tall{"query":"helsinki tallinn ferry"}`,
			`{"query":"helsinki tallinn ferry"}`},
		{readTool, `{"{"path{"path":"a/{"path":"a/q.go","off{"path":"a/q.go","offset":40}`,
			`{"path":"a/q.go","offset":40}`},
		{execTool, `{"command":"rm{"command":"rm -r a"}`, `{"command":"rm -r a"}`},
		// a snapshot in each line
		{execTool, "{\"command\":\"rm\n{\"command\":\"rm -r a\"}\n", `{"command":"rm -r a"}`},
		{execTool, `{"command":"rm b{"command":"rm -r a"}`, `truncated`},
		{findTool, `{"query":"x{"query":'helsinki'}`, `bad_json`}, // the object itself is damaged
		{execTool, `{"command":"ls{"`, `bad_json`},

		// Lines and sizes of the transport.
		{findTool, "{\"query\":: OPENROUTER PROCESSING\n\n \"postgres vacuum\"}",
			`{"query": "postgres vacuum"}`},
		{noteTool, "{\"text\":\"a\",\"tags\":[\"a\",\n: keep-alive\n\n\"b\"]}",
			"{\"text\":\"a\",\"tags\":[\"a\",\n\"b\"]}"},
		{execTool, "{\"command\":\"ls: OPENROUTER PROCESSING\n\n -la\"}", `{"command":"ls -la"}`},
		{execTool, "{\"command\":\"ls: ping\n\n -la\"}", `bad_json`},
		{execTool, "{\"command\":`ls\n: ping\n\n-la`}", `bad_json`},
		// as the model escaped it
		{execTool, `{"command":"ls: ping\n\n -la"}`, `{"command":"ls: ping\n\n -la"}`},
		{execTool, "e\r\n{\"command\":\"ls\r\n2\r\n\"}\r\n0\r\n\r\n", `{"command":"ls"}`},

		// Tokens, languages, numbers, separators.
		{execTool, `{"command":<|constrain|>"find a",<|message|>"workdir":"/srv"<|call|>}`,
			`{"command": "find a", "workdir":"/srv" }`},
		{execTool, `{"command": r"grep '\d+' f"}`, `{"command":"grep '\\d+' f"}`},
		{findTool, `{"query": @"\d+ ""x"""}`, `{"query":"\\d+ \"x\""}`},
		{execTool, `{"command": f"ls {x}"}`, `bad_json`},
		{write, "{\"path\":\"a\",\"content\":\"a\\n\"\n \"b\"}", `{"path":"a","content":"a\nb"}`},
		{findTool, "{\"query\":\"a\"\n \"b\",\"count\":1}", `{"query":"ab","count":1}`},
		{execTool, "{\"command\":\"a\"\n \"b\",\"timeout\":1}", `bad_json`},
		{noteTool, `{"text":"a","tags":["a" "b"]}`, `{"text":"a","tags":["a","b"]}`},
		{execTool, `{"command":"ls","timeout":0xB4}`, `{"command":"ls","timeout":180}`},
		{execTool, `{"command":"ls","timeout":1_000}`, `{"command":"ls","timeout":1000}`},
		{execTool, `{"command":"ls","timeout":٣٠}`, `{"command":"ls","timeout":30}`},
		{execTool, `{"command":"ls","timeout":1,5}`, `bad_json`},
		{call, `{"phone":+358401234567}`, `bad_json`},
		{call, `{"type":"object","properties":{"phone":+358401234567},"required":[]}`, `bad_json`},
		{call, `{"phone":"1","pause":+3}`, `{"phone":"1","pause":3}`},
		{execTool, `{"command":"ls";"timeout":3;};`, `{"command":"ls","timeout":3}`},
		{execTool, `{"command":"ls"، "timeout":3}`, `{"command":"ls", "timeout":3}`},
		{execTool, `{"command":"ls","timeout":Infinity}`, `bad_json`}, // a value, but which
		{execTool, `{"command":"ls","timeout":NaN}`, `bad_json`},
		{execTool, `{"command":"ls","timeout":-}`, `bad_json`},
		{execTool, `{"command":"ls","timeout":1e}`, `bad_json`},
		{execTool, `{"command":"ls"} # end`, `{"command":"ls"}`},
		{execTool, `{"command":"ls"} // do not run this`, `bad_json`},
		{codeTool, `json.dumps({"a": 1})`, `bad_json`}, // arguments, or the code?
		{execTool, `{"command":"ls","timeout":nil,"workdir":undefined}`, `{"command":"ls"}`},

		// Keys, schemas, a text alone, YAML.
		{list, `{"path":".","recursive?":true}`, `{"path":".","recursive":true}`},
		{list, `{"*path":"."}`, `{"path":"."}`},
		{list, `{"path ":"."}`, `{"path":"."}`},
		{list, `{"path":".","!recursive":true}`, `{"path":".","!recursive":true}`},
		{list, `{"list_files.path":"."}`, `{"path":"."}`},
		{write, `{"path":"a","args.path":"b","content":"x"}`, `bad_json`},
		{list, `{"type":"object","properties":{"path":"."}}`, `{"path":"."}`},
		{write, `{"type":"object","properties":{"path":"a","content":"x"},"required":["path"]}`,
			`{"path":"a","content":"x"}`},
		{write, `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}`,
			`bad_schema`},
		{city, `{"city":"Ulm"},"days":3}`, `{"city":"Ulm","days":3}`},
		{city, `{"city"}`, `bad_schema`},
		{city, `{"city":"Ulm",""}`, `{"city":"Ulm"}`},
		{city, `{"city":"Ulm","days"}`, `bad_json`},
		{city, `{"cit…"}`, `bad_schema`},
		{city, `{...}`, `bad_json`},
		{city, `{"…"}`, `bad_json`},
		{execTool, `{"ls"}`, `bad_schema`},
		{write, "path: a.md\ncontent: |\n  one\n    two\n", `{"path":"a.md","content":"one\n  two\n"}`},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		got, refusal := catalogOf(row.tool).Call(name, []byte(row.args), closed)
		outcome := string(got.Arguments)
		if refusal != nil {
			outcome = string(refusal.Code)
		}
		if outcome != row.want {
			t.Errorf("%s of %s: got %s, want %s", row.args, name, outcome, row.want)
		}
	}
}
