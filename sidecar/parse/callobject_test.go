package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Beside calls may stand what a guided reply or an API has; whatever else is said makes them doubtful,
// and the definition of a tool is no call of it.
func TestRemarks(t *testing.T) {
	keys := parse.DefaultKeys()
	keys.Done, keys.Answer, keys.Beside = []string{"done"}, []string{"answer", "content"}, []string{"id",
		"role=assistant", "status"}
	c := tools.NewCatalog(&tools.Rules{MaxDepth: 64}, nil, []tools.Tool{{Name: "exec"}})
	const call = `{"name":"exec","arguments":{"command":"ls"}}`
	beside := func(s string) string { return `{` + s + `"tool_calls":[` + call + `]}` }
	for doc, want := range map[string]string{
		call:                                    call + "sure",
		beside(""):                              "sure",
		beside(`"reasoning":"I look.",`):        "sure",
		beside(`"done":false,`):                 "sure",
		beside(`"answer":"",`):                  "sure",
		beside(`"content":null,`):               "sure",
		beside(`"id":"x1","role":"assistant",`): "sure",
		beside(`"done":true,`):                  "doubt",
		beside(`"answer":"I will not.",`):       "doubt",
		beside(`"warning":"an attack",`):        "doubt",
		beside(`"title":"Incident 12",`):        "doubt",
		beside(`"status":"do not run it",`):     "doubt",
		beside(`"role":"user",`):                "none",
		`{"name":"exec", /* quoted */ "arguments":{"command":"ls"}}`:                                "doubt",
		`{"type":"function","function":{"name":"exec","parameters":{"command":"string"}}}`:          "none",
		`{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}`: "none",
		`{"type":"function","function":{"name":"exec","parameters":{"command":"ls"}}}`:              "sure",
		`{"name":"exec","arguments":{"command":"string"}}`:                                          "sure",
	} {
		got, ok := keys.Read(c, doc, 64, false)
		is := "sure"
		switch {
		case !ok:
			is = "none"
		case got.List[0].Doubt:
			is = "doubt"
		}
		if is != want && call+is != want {
			t.Errorf("%s: %s, want %s", doc, is, want)
		}
	}
}
