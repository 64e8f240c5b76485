package tools

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// Tools of the rows below.
const (
	sendTool = "send_message(to:string! text:string!)"
	editTool = "edit(path:string! oldText:string! newText:string!)"
)

// soundRow is arguments of the first of some tools; why is part of the refusal, empty where they run.
type soundRow struct{ tool, args, why string }

func checkSound(t *testing.T, rows []soundRow) {
	t.Helper()
	for _, row := range rows {
		name, _, _ := strings.Cut(row.tool, "(")
		_, refusal := catalogOf(row.tool, "write(path:string! content:string!)").Call(name, []byte(row.args),
			closed)
		switch {
		case row.why == "" && refusal != nil:
			t.Errorf("%s %s: refused: %s", name, row.args, refusal.Why)
		case row.why != "" && (refusal == nil || !strings.Contains(refusal.Why, row.why)):
			t.Errorf("%s %s: got %v, want %q", name, row.args, refusal, row.why)
		}
	}
}

func TestContrary(t *testing.T) {
	checkSound(t, []soundRow{
		{sendTool, `{"to":"bob","to":"alice","text":"pay"}`, `"to" is given twice`},
		{sendTool, `{"to":"bob","to":"bob","text":"pay"}`, ""},
		{sendTool, `{"to":"bob","text":"pay","To":"alice"}`, `"to" and "To" are one argument`},
		{sendTool, `{"to":"bob","t\u006f":"alice","text":"pay"}`, `"to" is given twice`},
		{sendTool, `{"to":"bob","text":"pay",}{"to":"bob"`, "send_message"},
		{"set_view(filter:object! name:string)", `{"filter":{"filter":{"a":1}}`, "not certain"},
		{"set_view(filter:string! name:string)", `{"filter":{"filter":"a"}`, ""},
		{sendTool, `{to:"bob",to:"alice",text:"pay"}`, `"to" is given twice`},
		{editTool, `{"path":"a","oldText":"x","old_text":"y","newText":"z"}`, "one argument"},
		{editTool, `{"path":"a","oldText":"x","old_text":"x","newText":"z"}`, ""},
		{execTool, `{"command":"ls","cmd":"rm"}`, "one argument"},
		{execTool, `{"command":"ls","cmd":null}`, ""},
		{execTool, `{"cmd":"ls","shell_command":"rm"}`, "one argument"},
		{execTool, `{"input":{"command":"ls"},"command":"rm"}`, "given twice"},
		{execTool, `{"command":"ls","input":"{\"command\":\"rm\"}"}`, "given twice"},
		{execTool, `{"command":"ls","input":{"command":"ls"}}`, ""},
		{execTool, `{"command":"ls","note":{"command":"rm"}}`, ""},
		{"free", `{"a":1,"a":2}`, "given twice"},
		{"free", `{"a":1,"A":2}`, "one argument"},
		{pingTool, `{"a":1,"a":2}`, ""},
		{"pair(path:string! file:string!)", `{"path":"a","file":"b"}`, ""},
		{readTool, `{"path":"a","path":"b"}`, ""},
		{readTool, `{"path":"a","file":"b"}`, ""},
	})
}

func TestOtherTool(t *testing.T) {
	checkSound(t, []soundRow{
		{execTool, `{"tool":"write","command":"ls"}`, "name another tool, write"},
		{execTool, `{"name":"functions.write","command":"ls"}`, "name another tool, write"},
		{execTool, `{"tool":"exec","command":"ls"}`, ""},
		{execTool, `{"tool":"hammer","command":"ls"}`, ""},
		{"run(name:string! command:string!)", `{"name":"write","command":"ls"}`, ""},
		{readTool, `{"tool":"write","path":"a"}`, ""},
	})
}

func TestMisread(t *testing.T) {
	checkSound(t, []soundRow{
		{execTool, `{"command":"grep -E '\bfoo\b' a > b"}`, `\b, which is no such sign`},
		{execTool, `{"command":"grep -E '\\bfoo\\b' a > b"}`, ""},
		{execTool, `{"command":"grep -E '\\\bfoo' a"}`, `\b`},
		{execTool, `{"command":"grep '\bfoo\d'"}`, ""}, // \d shows that nothing was escaped
		{execTool, `{"command":"del C:\temp\\build"}`, `\t`},
		{execTool, `{"command":"cd C:\new"}`, `\n`},
		{execTool, `{"command":"cd a\nC:\temp"}`, `\t`},
		{execTool, `{"command":"printf 'a\tb\n' > src:\ta"}`, ""},
		{execTool, `{"command":"ls\u0000rm"}`, `\u0000`},
		{execTool, `{"command":"\ud83d x"}`, `\ud83d`},
		{execTool, `{"command":"\udcd8 x"}`, `\udcd8`},
		{execTool, `{"command":"\ud83d\ude00 \u00e9 \u001b[1m"}`, ""},
		{execTool, `"{\"command\":\"ls \\b\"}"`, `\b`},
		{editTool, `{"path":"a","oldText":"x","newText":"\frac{1}{2}"}`, `\f`},
		{sendTool, `{"to":"bob","text":"a\tb\nVitamin C:\n1 mg\r\n"}`, ""},
		{sendTool, `{"to":"bob","text":"Look into C:\temp"}`, `\t`},
		{readTool, `{"path":"C:\temp\b"}`, ""},
	})
}

func TestHollow(t *testing.T) {
	checkSound(t, []soundRow{
		{execTool, `{"command":"..."}`, "is a placeholder"},
		{execTool, `{"command":" … "}`, "is a placeholder"},
		{execTool, `{"command":"<path>"}`, "is a placeholder"},
		{execTool, `{"command":"<your command>"}`, "is a placeholder"},
		{execTool, `{"command":"{command}"}`, "is a placeholder"},
		{execTool, `{"command":"{{command}}"}`, "is a placeholder"},
		{execTool, `{"command":"YOUR_COMMAND_HERE"}`, "is a placeholder"},
		{execTool, `{"command":"[COMMAND]"}`, "is a placeholder"},
		{execTool, `{"cmd":"..."}`, "is a placeholder"},
		{execTool, `{"command":"go test ./..."}`, ""},
		{execTool, `{"command":"{ ls; }"}`, ""},
		{execTool, `{"command":"[ -f a ]"}`, ""},
		{execTool, `{"command":"cat <a >b"}`, ""},
		{execTool, `{"command":"ls","workdir":"..."}`, ""},
		{sendTool, `{"to":"bob","text":"..."}`, ""},
		{readTool, `{"path":"<path>"}`, ""},

		{execTool, `{"command":"Sorry, I cannot do that."}`, "is a sentence"},
		{execTool, `{"command":"I will list the files"}`, "is a sentence"},
		{execTool, `{"command":"sorry, that is not allowed"}`, "is a sentence"},
		{execTool, `{"command":"I can't run this."}`, "is a sentence"},
		{codeTool, `{"code":"Es tut mir leid, das geht nicht."}`, "is a sentence"},
		{execTool, `{"command":"{\"command\":\"ls\"}"}`, "is an object"},
		{execTool, `{"command":"command=ls"}`, "begins with the name"},
		{execTool, "{\"command\":\"```bash\\nls\\n```\"}", "begins with a fence"},
		{execTool, `{"command":"git commit -m 'Sorry, I cannot do that.'"}`, ""},
		{execTool, `{"command":"workdir=a; ls $workdir"}`, ""},
		{execTool, `{"command":"R CMD BATCH script"}`, ""},
		{execTool, `{"command":"Rscript a.R"}`, ""},
		{execTool, `{"command":"npm run build"}`, ""},
		{"run_agent(prompt:string!)", `{"prompt":"Sorry, I cannot do that."}`, ""}, // words are what it takes
	})
}

// No command of a day, and none that a policy was tested with, is taken for a sentence or a placeholder.
func TestHollowCorpus(t *testing.T) {
	type line struct{ ID, Command string }
	for _, file := range []string{"exec", "daily"} {
		for _, c := range testkit.Corpus[line](t, file) {
			args := "{\"command\":" + jsontext.Quote(c.Command) + "}"
			if _, refusal := catalogOf(execTool).Call("exec", []byte(args), closed); refusal != nil {
				t.Errorf("%s %s: %s", c.ID, args, refusal.Why)
			}
		}
	}
}

func TestBeside(t *testing.T) {
	checkSound(t, []soundRow{
		{execTool, `Never {"command":"rm -rf build"}`, `"Never" stands beside the object`},
		{execTool, `Nie {"command":"rm -rf build"}`, "stands beside"},
		{execTool, `不要 {"command":"rm -rf build"}`, ""}, // as debris is
		{execTool, `не надо этого делать {"command":"rm -rf build"}`, "stands beside"},
		{execTool, "{\"command\":\"ls\"}\n\nI did not run this.", "stands beside"},
		{execTool, `{"command":"ls"}<|end|>I did not run this.`, "stands beside"},
		{execTool, "# Example\n{\"command\":\"rm -rf build\"}", "stands beside"},
		{execTool, "{\"command\":\"rm -rf build\"} // only an example", "stands beside"},
		{execTool, `For example: {"command":"rm -rf build"}`, "stands beside"},
		{execTool, "```json\n{\"command\":\"ls\"}\n```\nThis is only an example.", "stands beside"},
		{execTool, `{"command":"ls"}<|channel|>analysis<|message|>wait, no`, "stands beside"},
		{execTool, `"{\"command\":\"ls\"} Never."`, "stands beside"},
		{execTool, `read({"command":"ls"})`, `"read" stands beside`},
		{execTool, `read("{\"command\":\"ls\"}")`, "exec"},
		{execTool, `to=functions.write {"command":"ls"}`, "exec"},
		{execTool, `{"command":"ls"}<|call|>{"command":"rm -rf build"}`, "exec"},
		{execTool, `{"command":"ls"};rm -rf x`, "stands beside"},
		{execTool, "```json\n{\"command\":\"ls\"}\n```\n```json\n{\"command\":\"rm\"}\n```", "stands beside"},
		{execTool, "{\"command\":\"ls\"}\n{\"command\":\"rm\"}", "exec"},
		{execTool, "{\"command\":\"ls\"}\n---\n{\"command\":\"rm\"}", "exec"},

		{execTool, "```json\n{\"command\":\"ls\"}\n```", ""},
		{execTool, `json {"command":"ls"}`, ""},
		{execTool, `code: {"command":"ls"}`, ""},
		{execTool, `exec({"command":"ls"})`, ""},
		{execTool, `functions.exec({"command":"ls"});`, ""},
		{execTool, `{"command":"ls"}}`, ""},
		{execTool, `{"command":"ls"}<|call|>`, ""},
		{execTool, `{"command":"ls"}{"command":"ls"}`, ""},
		{execTool, `】【{"command":"ls"}`, ""},
		{readTool, `Never {"path":"a"}`, ""},
	})
}

func TestGuessedTexts(t *testing.T) {
	checkSound(t, []soundRow{
		{execTool, `{"command": $CMD}`, "not certain"},
		{execTool, `{"command": ...}`, "exec"},
		{execTool, `{"command": ls; rm -rf build}`, "not certain"},
		{execTool, `{"command":rm}`, "not certain"},
		{execTool, `{command: echo a, workdir: b}`, "not certain"},
		{execTool, `{command=rm -rf build}`, "not certain"},
		{execTool, `{"command": not rm -rf build}`, "not certain"},
		{sendTool, `{"to": bob, "text": "pay"}`, "not certain"},
		{execTool, `{'command': 'a' 'b'}`, "not certain"},
		{execTool, `{'command': 'echo "it''s"'}`, "not certain"},
		{execTool, `{'command': 'echo a'}`, ""},
		{execTool, `{'command': 'echo "a"'}`, ""},
		{execTool, `{command: "ls", timeout: 5}`, ""},
		{"note(text:string! pinned:boolean)", `{"text": "a", "pinned": True}`, ""},
		{readTool, `{path: a.md}`, ""},
	})
}
