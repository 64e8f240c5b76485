package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Arguments that are no JSON are read by themselves where all around them is JSON. They must be what the
// tool takes: the envelope of a call whose arguments are a guess says nothing that is certain.
func TestDamagedArguments(t *testing.T) {
	keys := parse.DefaultKeys()
	keys.Through = []string{"functionCall", "params"}
	keys.Beside = []string{"jsonrpc", "id", "method=tools/call"}
	c := tools.NewCatalog(&tools.Rules{MaxDepth: 64,
		Classes: tools.NewClasses(tools.ClassRule{Words: []string{"exec"}, Class: tools.Exec})}, nil,
		[]tools.Tool{{Name: "exec",
			Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"],"additionalProperties":false}`)}})
	const want = `{"command":"ls"}`
	for doc, certain := range map[string]bool{
		`{"name":"exec","arguments":<unk>{"command":"ls"}<unk>}`: true,
		`{"name":"exec","arguments":{"command"="ls"}}`:           true,
		// something stands behind them
		`{"arguments":{"command":"ls"}{"command":"ls"},"name":"exec"}`:                                 false,
		`{"tool_calls":[{"type":"function","function":{"name":"exec","arguments":｛"command"："ls"｝}}]}`: true,
		`{"name":"exec","arguments":ls -la}`:                                                           false,
		`{"name":"exec","arguments":{"command":"ls"}, or {"command":"rm"}}`:                            false,
		// it is none of a call
		"{\"exec\":{\"command\":\"ls\",\"args\":: PING\n\n \"ls\"}}": false,
		// what kept a stream open
		"{\"name\":\"exec\",\"arguments\":{'command':'l: OPENROUTER PROCESSING\n\ns'}}": true,
		// characters for bytes, in the arguments alone
		`{"name": "exec", "arguments": {"command":Ġ"ls"}}`:                                                      true,
		`{"name": "exec", "arguments": {"command":Ġ"ls",Ġ"timeout":Ġ5}}`:                                        true,
		"{\"name\":\"exec\",\"arguments\":{'command':'l: ping\n\ns', \"timeout\": 5}}":                          false,
		`{"name":"exec","arguments":{"command":'it's'}}`:                                                        false,
		`{"name":"launch","arguments":<unk>{"command":"ls"}<unk>}`:                                              false,
		`{"functionCall":{"name":"exec","args":<unk>{"command":"ls"}<unk>}}`:                                    true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","arguments":天{"command":"ls"}}}`: true,
	} {
		got, ok := keys.Read(c, doc, 64, false)
		if !ok {
			got, ok = keys.Whole(c, doc, 64)
		}
		sure := ok && len(got.List) == 1 && !got.List[0].Unsure
		if sure {
			call, refusal := c.Call(got.List[0].Name, []byte(got.List[0].Args), tools.Ending{})
			sure = refusal == nil
			if args := call.Arguments; sure && !tools.SameJSON(args, []byte(want)) &&
				!tools.SameJSON(args, []byte(`{"command":"ls","timeout":5}`)) {
				t.Errorf("%s: read as %s", doc, args)
			}
		}
		if sure != certain {
			t.Errorf("%s: certain %v, want %v: %+v", doc, sure, certain, got)
		}
	}
}

// A call object may say its id and its type first; any other key makes it data that nobody waits for.
func TestStarts(t *testing.T) {
	keys, c := parse.DefaultKeys(), tools.NewCatalog(&tools.Rules{}, nil, []tools.Tool{{Name: "exec"}})
	for v, want := range map[string]string{
		`{"name":`: "yes", `{"id":"x","name":`: "yes", `{"id": "x", "type": "function", "function": {`: "yes",
		`[{"id":1,"name"`: "yes", `{"exec":`: "yes",
		`{"id":"x","title":`: "no", `{"id":{"a":1},"name":`: "no", `{"title":`: "no",
		`{"id":["a","name"`: "no", `{1`: "no",
		`{"id":"x`: "wait", `{"id":"x", `: "wait", `{"na`: "wait", `{`: "wait",
	} {
		if got := [...]string{"no", "yes", "wait"}[keys.Starts(c, v, false)]; got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}
