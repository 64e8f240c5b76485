package sidecar

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// Four times the request may cost about four times as long, whatever it is made of.
func TestChatIsLinear(t *testing.T) {
	list := func(n int, part string) string { return strings.Repeat(part+",", n) + part }
	for name, request := range map[string]func(n int) string{
		"tools, of which some may be called": func(n int) string {
			return asking(`"tools":[` + list(n, `{"type":"function","name":"a"}`) +
				`],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[` + list(n, `{"name":"a"}`) +
				`]}`)
		},
		"tools in namespaces": func(n int) string {
			return asking(`"tools":[` + list(n,
				`{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}`) + `]`)
		},
		"answers in a row": func(n int) string {
			return items(list(n, `{"role":"assistant","content":"a"}`))
		},
		"thoughts":       func(n int) string { return items(list(n, think), callB) },
		"calls":          func(n int) string { return items(list(n, callB)) },
		"calls in turns": func(n int) string { return items(list(n, callB+","+outB)) },
		"parts": func(n int) string {
			return items(`{"role":"user","content":[` + list(n, `{"type":"input_text","text":"a"}`) + `]}`)
		},
		"members": func(n int) string { return asking(list(n, `"a":1`)) },
	} {
		took := func(n int) time.Duration {
			body := []byte(request(n))
			return testkit.LeastTime(func() {
				if _, _, err := toChat(body); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			})
		}
		a, b := took(4_000), took(16_000)
		for range 4 { // a machine that is busy with others may be slow once
			if b > 10*a {
				a, b = took(4_000), took(16_000)
			}
		}
		if b > 10*a {
			t.Errorf("%s: 4,000 took %s, 16,000 took %s", name, a, b)
		}
	}
}
