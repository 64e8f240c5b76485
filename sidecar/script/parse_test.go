package script

import (
	"net/http"
	"testing"
)

// What the grammar of llama.cpp does not let the model write is no reply, but a mistake of the script.
func TestGrammar(t *testing.T) {
	const tool = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":` +
		`{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}}}`
	for _, c := range []struct {
		call   Reply
		finish string
		status int
	}{
		{Native("exec", `{"command":"ls","timeout":3}`), "", http.StatusOK},
		{Native("exec", `{"command":"l`), "length", http.StatusOK},
		{Native("launch", `{}`), "", http.StatusNotImplemented},
		{Native("exec", `{"command":"ls"`), "", http.StatusNotImplemented},
		{Native("exec", `["ls"]`), "", http.StatusNotImplemented},
		{Native("exec", `{"timeout":3}`), "", http.StatusNotImplemented},
		{Native("exec", `{"command":"ls","cwd":"/"}`), "", http.StatusNotImplemented},
		{Native("exec", `{"command":"ls","timeout":"3"}`), "", http.StatusNotImplemented},
		{Native("exec", `{"command":"ls","timeout":1.5}`), "", http.StatusNotImplemented},
	} {
		c.call.Finish = c.finish
		s := New(Scenario{Steps: []Reply{c.call}})
		s.Dialect = LlamaCPP()
		res, body := ask(t, s, `{"messages":[{"role":"user","content":"go"}],"tools":[`+tool+"]}")
		if res.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.call.Calls[0].Arguments, res.StatusCode, body)
		}
	}
}
