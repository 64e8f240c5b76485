package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// The same call is made once, in whatever form it stands, whole or streamed; one that reads is made again
// behind one that changes something.
func TestRepeated(t *testing.T) {
	const ls, a = `{"command":"ls"}`, `{"path":"a"}`
	text := func(form string) func(calls ...[2]string) []parse.Delta {
		return func(calls ...[2]string) []parse.Delta {
			var b strings.Builder
			for _, c := range calls {
				fmt.Fprintf(&b, form, c[0], c[1])
			}
			return []parse.Delta{{Content: b.String()}}
		}
	}
	forms := map[string]func(calls ...[2]string) []parse.Delta{
		"native": func(calls ...[2]string) (out []parse.Delta) {
			for i, c := range calls {
				out = append(out, piece(i, fmt.Sprint("c", i), c[0], c[1]))
			}
			return out
		},
		"leaked":   text("<|start|>assistant<|channel|>commentary to=functions.%s<|message|>%s<|call|>"),
		"headless": text("to=functions.%s json\n%s\n"),
		"react":    text("Action: %s\nAction Input: %s\n"),
		"bracket":  text("[tool:%s] %s\n"),
		"guided": func(calls ...[2]string) []parse.Delta {
			var list []string
			for _, c := range calls {
				list = append(list, fmt.Sprintf(`{"name":"%s","arguments":%s}`, c[0], c[1]))
			}
			return []parse.Delta{{Content: `{"tool_calls":[` + strings.Join(list, ",") + `]}`}}
		},
		"tags":    text(`<tool_call>{"name":"%s","arguments":%s}</tool_call>` + "\n"),
		"wrapped": nil,
	}
	forms["wrapped"] = func(calls ...[2]string) []parse.Delta {
		return []parse.Delta{piece(0, "c", "multi_tool_use.parallel",
			strings.NewReplacer("name", "recipient_name", "arguments", "parameters", "tool_calls",
				"tool_uses").Replace(forms["guided"](calls...)[0].Content))}
	}
	for name, form := range forms {
		for _, row := range []struct {
			calls    [][2]string
			want     string
			repeated int
		}{
			{[][2]string{{"exec", ls}, {"exec", ls}}, "exec" + ls, 1},
			{[][2]string{{"exec", ls}, {"exec", `{ "command": "ls" }`}, {"exec", ls}}, "exec" + ls, 2},
			{[][2]string{{"exec", ls}, {"exec", `{"command":"ls -l"}`}, {"exec", ls}}, "exec" + ls + ` exec{"command":"ls -l"}`, 1},
			{[][2]string{{"read", a}, {"read", a}}, "read" + a, 1},
			{[][2]string{{"read", a}, {"exec", ls}, {"read", a}}, "read" + a + " exec" + ls + " read" + a, 0},
		} {
			whole := form(row.calls...)
			var pieces []parse.Delta
			for _, d := range whole {
				for _, r := range d.Content {
					pieces = append(pieces, parse.Delta{Content: string(r)})
				}
				pieces = append(pieces, parse.Delta{Calls: d.Calls})
			}
			for _, deltas := range [][]parse.Delta{whole, pieces} {
				got, _ := readDeltas(shipped.Strategies(""), "stop", deltas...)
				if calls := strings.TrimSpace(showCalls(got.Calls)); calls != row.want ||
					got.Repeated != row.repeated || len(got.Refused) > 0 || got.Content != "" {
					t.Errorf("%s in %d pieces: %s, %d repeated, want %s, %d; refused %v, shows %q", name,
						len(deltas), calls, got.Repeated, row.want, row.repeated, got.Refused, got.Content)
				}
			}
		}
	}
}
