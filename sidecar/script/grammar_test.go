package script_test

import (
	"net/http"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What the grammar of llama.cpp does not let the model write is no reply, but a mistake of the script.
func TestGrammar(t *testing.T) {
	const tool = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":` +
		`{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}}}`
	for _, c := range []struct {
		call   script.Reply
		finish string
		status int
	}{
		{script.Native("exec", `{"command":"ls","timeout":3}`), "", http.StatusOK},
		{script.Native("exec", `{"command":"l`), "length", http.StatusOK},
		{script.Native("launch", `{}`), "", http.StatusNotImplemented},
		{script.Native("exec", `{"command":"ls"`), "", http.StatusNotImplemented},
		{script.Native("exec", `["ls"]`), "", http.StatusNotImplemented},
		{script.Native("exec", `{"timeout":3}`), "", http.StatusNotImplemented},
		{script.Native("exec", `{"command":"ls","cwd":"/"}`), "", http.StatusNotImplemented},
		{script.Native("exec", `{"command":"ls","timeout":"3"}`), "", http.StatusNotImplemented},
		{script.Native("exec", `{"command":"ls","timeout":1.5}`), "", http.StatusNotImplemented},
	} {
		c.call.Finish = c.finish
		s := script.New(script.Scenario{Steps: []script.Reply{c.call}})
		s.Dialect = servers.LlamaCPP()
		res, body := ask(t, s, `{"messages":[{"role":"user","content":"go"}],"tools":[`+tool+"]}")
		if res.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.call.Calls[0].Arguments, res.StatusCode, body)
		}
	}
}
