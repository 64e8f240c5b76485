package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// BenchmarkRequest is a conversation with 100 results of 4 KB, without rules and with three.
func BenchmarkRequest(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"go"}`)
	for i := range 100 {
		fmt.Fprintf(&body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"web_fetch","arguments":"{\"url\":\"https://a.test\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`,
			i, i, strings.Repeat("a line of text ", 270))
	}
	body.WriteString(`]}`)
	req, err := openai.ParseRequest([]byte(body.String()))
	if err != nil {
		b.Fatal(err)
	}
	for name, doc := range map[string]string{
		"none": "",
		"three": `
requests: [{id: a, messages: [{of: system, note: Be brief.}]}]
results:
  - {id: b, when: tool == "web_fetch" and size > 1000, replace: [{find: 'utm_\w+=\w*', with: ''}]}
  - {id: c, when: failed, note: Try something else.}`,
	} {
		b.Run(name, func(b *testing.B) {
			e := good(b, doc, "")
			for b.Loop() {
				if _, _, err := e.Request(req, policy.Subject{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
