package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// offeredForFuzz are tools with and without schemas.
func offeredForFuzz() *tools.Catalog {
	return tools.NewCatalog(shipped.Tools, nil, []tools.Tool{
		{Name: "read", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "exec", Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
		{Name: "web_search"},
	})
}

// fuzzReading checks what must hold for any text: no panic, the same reading for
// any cut, calls of offered tools only, and no markup in what is shown.
func fuzzReading(f *testing.F, s *parse.Strategies, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed, uint8(3), false)
	}
	c := offeredForFuzz()
	f.Fuzz(func(t *testing.T, text string, step uint8, cut bool) {
		if len(text) > 4096 {
			t.Skip("long texts are the linear test's")
		}
		text = strings.ToValidUTF8(text, "?")
		finish := "stop"
		if cut {
			finish = "length"
		}
		want := readPieces(s, c, []string{text}, finish)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+int(step)%17)
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got := readPieces(s, c, pieces, finish)
		if diff := differ(want, got); diff != "" {
			t.Fatalf("text %q cut every %d bytes reads differently (-whole +cut):\n%s", text, 1+int(step)%17,
				diff)
		}
		for _, call := range want.Calls {
			if !c.Exact(call.Name) {
				t.Fatalf("text %q: %s was not offered", text, call.Name)
			}
		}
		if want.Finish == "tool_calls" != (len(want.Calls) > 0) {
			t.Fatalf("text %q: finish %q with %d calls", text, want.Finish, len(want.Calls))
		}
	})
}

func FuzzHarmony(f *testing.F) {
	fuzzReading(f, shipped.Strategies(""),
		`<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>`,
		`<|start|>assistant to=exec<|channel|>commentary json<|message|>{"command":"ls <|end|>"}<|end|><|start|>assistant<|channel|>final<|message|>ok<|return|>`,
		`analysisWe look.assistantcommentary to=functions.exec json{"command":"ls"}assistantfinalDone.`,
		"commentary to=read code {\"path\":\"a\"}", "final {\"a\":1}", "<think>x</think>assistantfinal y",
		"<|message|>a<|end|>b<|call|>c",
		"analysis00 00000assistantcommentary to.functions.eXeC 0000{\"0000",
		"{\"path\":\"a\"}to=functions.read", "<|call|>read {\"path\":\"a\"}",
		"Done. to=functions.exec მკ 北京_json\n", "an assistant to=exec{",
		"It is.\n\ncommentary json{\"path\":\"a\"}",
		"commentary <|constrain|>json<|message|>{\"path\":\"a\"}",
		"assistantcommentary json {\"path\":\"a\"}", "<|message|>json {}", "<Think>so</think>Hi",
		"<|start|>assistant<|channel|>Hello<|channel|>final<|end|>",
		"Action: finish\nAction Input: The answer is forty two.\nAction: read\nAction Input: {\"path\": \"some/long/path/zzzzzzzzzzzzzzzzzzzzzz\"}\n", "00˨read {\"",
	)
}

func FuzzReAct(f *testing.F) {
	fuzzReading(f, shipped.Strategies(""),
		"Thought: look\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation: x",
		"**Action:** exec\n**Action Input:** ls -la\n\nThought: y", "Final Answer: 42",
		"Thought: a\nFinal Answer: b",
		"Action:\n```json\n{\"action\":\"read\",\"action_input\":{\"path\":\"a\"}}\n```",
	)
}

func FuzzMarkers(f *testing.F) {
	fuzzReading(f, shipped.Strategies(""),
		"[TOOL:read|path=a]", "[ TOOL : exec | command = \"a | b ]\" ] x", "[tool:read] {\"path\":\"a\"}",
		"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>",
		"<invoke name=\"read\"><parameter name=\"path\">a</parameter></invoke> says",
		"{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"exec\",\"arguments\":{\"command\":\"b\"}}", "read{\"path\":\"a\"}",
		"```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"}}\n```", "[DONE]\nx", "`<tool_call>`",
		"[DONE]0",
		"[read]\n{\"path\":\"a\"}\n[END_TOOL_REQUEST]", "`[read]\n{",
		"<tool_call>[read(path=\"a\")]</tool_call>", "<tool>read</tool><tool_input>a</tool_input>",
	)
}

func FuzzFrames(f *testing.F) {
	fuzzReading(f, shippedWith(f, frames(f)...),
		"Hm. @@exec ~~ command: ls @@end\n@@read ~~ path: a ~~ x: @@END", "@@exec ~~ command: ls",
		"<<call name=exec command='ls'></call>",
		"!!exec {\"command\": \"a; !!read {}\"};read {\"path\": \"b\"}\nx",
		"!!exec {\n\"command\":\n\"ls\"\n}\nmore", "$run ls\nand",
		"<read><path>a</path></read>", "<reader>", "[exec(command='ls'), read(path=\"a]\")]", "[exec](a)",
		"%% exec %%stop", "%% exec{\"command\":\"ls\"}",
	)
}

func FuzzForeign(f *testing.F) {
	fuzzReading(f, shipped.Strategies(""),
		"<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
		"<tool_call name=\"read\" arguments='{\"path\": \"a\"}'/>",
		"<|python_tag|>{\"name\":\"read\",\"parameters\":{\"path\":\"a\"}}<|eom_id|>",
		"[TOOL_CALLS] [{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}]",
		"[TOOL_CALLS]read[ARGS]{\"path\":\"a\"}[TOOL_CALLS]exec[ARGS]{\"command\":\"b\"}",
		"[read(path=\"a\"), exec(command='b')]",
		"<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>read\n```json\n{\"path\":\"a\"}\n```<|tool▁call▁end|><|tool▁calls▁end|>",
		"<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\":\"a\"}<|tool_call_end|>",
		"<minimax:tool_call><invoke name=\"read\"></invoke></minimax:tool_call>",
	)
}
