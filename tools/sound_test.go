package tools

import (
	"strings"
	"testing"
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
		_, refusal := catalogOf(row.tool, "write(path:string! content:string!)").Call(name, []byte(row.args), closed)
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
