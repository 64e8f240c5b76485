package upstream_test

import (
	"fmt"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// Real servers answer requests whose tools have schemas that they fail over when they read them as they are:
// llama.cpp with the template of gpt-oss's makers over arrays without items, both over true. A tool without
// arguments comes with null, as eino sends it, with an empty schema, or with none.
func TestRealSchemas(t *testing.T) {
	for name, server := range map[string]*modelserver.Server{
		"Ollama": modelserver.Config{}.Ollama(t),
		"llamacpp": modelserver.Config{Format: &modelserver.Format{Model: modelserver.Model,
			Jinja: "openai-gpt-oss-120b"}}.LlamaChat(t),
	} {
		dialect := map[string]string{"llamacpp": name}[name]
		sidecar := provider.Start(t, provider.Setup{URL: server.URL, Server: dialect}, nil)
		for _, schema := range []string{"", `,"parameters":null`, `,"parameters":{}`, `,"parameters":{"type":"object"}`,
			`,"parameters":{"type":"object","properties":null}`, `,"parameters":true`} {
			server.Say(modelserver.Reply{Text: "<|channel|>commentary to=functions.now <|constrain|>json" +
				"<|message|>{}<|call|>", Always: true})
			a := sidecar.Chat(fmt.Sprintf(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}],"tools":[`+
				`{"type":"function","function":{"name":"now","description":"The time"%s}}]}`, schema))
			if len(a.Calls) != 1 || a.Calls[0].Name != "now" {
				t.Errorf("%s, now%s: %d, %d calls, %q %s", name, schema, a.Status, len(a.Calls), a.Text, a.Fault.Message)
			}
		}
		for _, argument := range []string{`{"type":"array"}`, `{"type":"array","prefixItems":[{"type":"number"}]}`,
			`{"type":"array","items":true}`, `true`, `{"anyOf":[true,{"type":"string"}]}`,
			`{"type":"object","properties":{"b":{"type":"array"}}}`} {
			server.Say(modelserver.Reply{Text: "<|channel|>commentary to=functions.read <|constrain|>json" +
				`<|message|>{"path":"notes.md"}<|call|>`, Always: true})
			a := sidecar.Chat(fmt.Sprintf(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}],"tools":[`+
				`{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":`+
				`{"path":{"type":"string"},"a":%s}}}}]}`, argument))
			if len(a.Calls) != 1 || a.Calls[0].Name != "read" {
				t.Errorf("%s, %s: %d, %d calls, %q %s", name, argument, a.Status, len(a.Calls), a.Text, a.Fault.Message)
			}
		}
	}
}
