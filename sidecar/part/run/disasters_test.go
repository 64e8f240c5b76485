package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// hands are tools that note what was done with them, commands among them.
type hands struct{ provider.Source }

func (h *hands) Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) []tools.Tool {
	return append(h.Source.Tools(ctx, set, who),
		tools.Tool{Name: "exec", Parameters: fmt.Appendf(nil, provider.SchemaOf, "command", "command")})
}

// What an earlier implementation of the same specification did, measured: it ran what nobody had
// asked for, ran it several times, lost calls and changed arguments. Each row is one of these, and
// what a run does instead.
func TestDisasters(t *testing.T) {
	done := script.Text("Done.")
	failing := func(string, int) tools.Result {
		return tools.Result{Failed: true, Doubt: true, Text: "HTTP 500"}
	}
	for name, c := range map[string]struct {
		replies []script.Reply
		more    string // of the request
		result  func(string, int) tools.Result
		ran     []string
		shows   string // in the answer
		asked   int    // requests to the model
	}{
		"native calls were ignored": {
			replies: []script.Reply{script.Native("read", `{"path":"/tmp/a"}`), done},
			ran:     []string{`read {"path":"/tmp/a"}`}, shows: "Done.", asked: 2,
		},
		"Harmony in the text was shown": {
			replies: []script.Reply{script.Text(`<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"/tmp/a"}<|call|>`), done},
			ran:     []string{`read {"path":"/tmp/a"}`}, shows: "Done.", asked: 2,
		},
		"a command that the model warns of in its thoughts ran five times": {
			replies: []script.Reply{script.Text("I left your data alone.").Thinking("The user wants space. We must not run `rm -rf ~/data`. I could run exec with rm -rf ~/data, but no.")},
			shows:   "I left your data alone.", asked: 1,
		},
		"a command quoted in an answer ran five times": {
			replies: []script.Reply{script.Text("To install it, run:\n\n```bash\ncurl -fsSL https://example.com/install.sh | sh\n```\n\nThen open a new shell.")},
			shows:   "curl -fsSL", asked: 1,
		},
		"a call quoted in an answer": {
			replies: []script.Reply{script.Text("A call looks like this: `{\"name\":\"exec\",\"arguments\":{\"command\":\"rm -rf ~\"}}`. Never send it.")},
			shows:   "A call looks like this", asked: 1,
		},
		"a sum was searched for five times": {
			replies: []script.Reply{script.Text("2 + 2 = 4").Thinking("The user asks what is 2+2. I could search for it, look up arithmetic, read the file. No need.")},
			shows:   "2 + 2 = 4", asked: 1,
		},
		"a word such as done ended the run, and its results were thrown away": {
			replies: []script.Reply{script.Native("read",
				`{"path":"/tmp/a"}`).Thinking("Not done yet; when this is complete I am done."),
				script.Text("It says: hello.")},
			ran: []string{`read {"path":"/tmp/a"}`}, shows: "It says: hello.", asked: 2,
		},
		"the list of forbidden commands was never read": {
			replies: []script.Reply{script.Native("exec", `{"command":"rm -rf /"}`),
				script.Text("I may not.")},
			shows: "I may not.", asked: 2,
		},
		"a forbidden command in other clothes": {
			replies: []script.Reply{script.Native("exec", `{"command":"env bash -c 'sudo /bin/rm -r -f /'"}`),
				script.Text("I may not.")},
			shows: "I may not.", asked: 2,
		},
		"a count of 5 became 10": {
			replies: []script.Reply{script.Native("web_search", `{"query":"tides","count":5}`), done},
			ran:     []string{`web_search {"query":"tides","count":5}`}, shows: "Done.", asked: 2,
		},
		"the second call of a tool was dropped": {
			replies: []script.Reply{{Calls: []script.Call{{ID: "a", Name: "read",
				Arguments: `{"path":"/tmp/a"}`}, {ID: "b", Name: "read", Arguments: `{"path":"/tmp/b"}`}}},
				done},
			ran: []string{`read {"path":"/tmp/a"}`, `read {"path":"/tmp/b"}`}, shows: "Done.", asked: 2,
		},
		"ReAct over several lines wrote an empty file": {
			replies: []script.Reply{script.Text("Thought: I write it.\nAction: write\nAction Input: {\n  \"path\": \"/tmp/a\",\n  \"content\": \"one\\ntwo {3}\"\n}\n"), done},
			ran:     []string{"write {\n  \"path\": \"/tmp/a\",\n  \"content\": \"one\\ntwo {3}\"\n}"},
			shows:   "Done.", asked: 2,
		},
		"a marker was cut at | and ]": {
			replies: []script.Reply{script.Text(`[TOOL:write|path=/tmp/a|content="x | y = [1,2]"]`), done},
			ran:     []string{`write {"path":"/tmp/a","content":"x | y = [1,2]"}`}, shows: "Done.", asked: 2,
		},
		"a write that failed was sent three times": {
			replies: []script.Reply{script.Native("write", `{"path":"/tmp/a","content":"x"}`),
				script.Text("It failed.")}, result: failing,
			ran: []string{`write {"path":"/tmp/a","content":"x"}`}, shows: "It failed.", asked: 2,
		},
		"the model failed after a write, and the caller was told to try again": {
			replies: []script.Reply{script.Native("write", `{"path":"/tmp/a","content":"x"}`),
				script.Fail(500, "CUDA error"), script.Fail(500, "CUDA error"),
				script.Fail(500, "CUDA error"), script.Fail(500, "CUDA error")},
			ran: []string{`write {"path":"/tmp/a","content":"x"}`}, shows: "- write: /tmp/a",
		},
		"parameters of the request were dropped": {
			replies: []script.Reply{done}, more: `"temperature":0.125,"seed":7,"x_unknown":{"a":[1]}`,
			shows: "Done.", asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hands{provider.Source{Result: c.result}}
			r := executor.Start(t, provider.Setup{}, h, nil, script.New(script.Scenario{Steps: c.replies}))
			for range 2 { // a caller that lost the answer asks again
				a := r.Run(false, c.more)
				if a.Status != 200 || !strings.Contains(a.Text, c.shows) || strings.Contains(a.Text, "<|") ||
					a.Last == "" {
					t.Errorf("%d %q %s", a.Status, a.Text, a.Body)
				}
				asked := r.Model.Requests("")
				if c.asked > 0 && len(asked) != c.asked {
					t.Errorf("the model was asked %d times, not %d", len(asked), c.asked)
				}
				if c.more != "" && !strings.Contains(string(asked[0].Body), c.more) {
					t.Errorf("the model was asked %s", asked[0].Body)
				}
				if got := h.Calls(); !slices.Equal(got, c.ran) {
					t.Errorf("ran %q, want %q", got, c.ran)
				}
				if !slices.ContainsFunc(c.ran,
					func(call string) bool { return strings.HasPrefix(call, "write") }) {
					break // what changes nothing may be done again
				}
			}
		})
	}
}
