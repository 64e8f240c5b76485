package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// reader is a model that fetches so many pages, one after the other, and then answers.
func reader(pages int) func(script.Request) *script.Reply {
	return func(q script.Request) *script.Reply {
		done := 0
		for _, m := range q.Messages {
			done += len(m.Calls) + strings.Count(m.Text, "- web_fetch: ")
		}
		reply := script.Native("web_fetch", fmt.Sprintf(`{"url":"https://example.com/%d"}`, done))
		if last := q.Messages[len(q.Messages)-1]; done == pages || last.Role == "user" && done > 0 {
			reply = script.Text(fmt.Sprintf("I have read %d pages.", done))
		}
		return &reply
	}
}

// page is a tool whose results are long.
func page(string, int) tools.Result { return tools.Result{Text: strings.Repeat("some words ", 400)} }

// paired says what is wrong with the calls and results of a request; "" where nothing is.
func paired(q script.Request) string {
	open := map[string]bool{}
	for _, m := range q.Messages {
		if m.Role == "tool" && !open[m.CallID] {
			return "a result without its call: " + m.CallID
		}
		delete(open, m.CallID)
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("calls without results: %v", open)
	}
	return ""
}

// small is a server that takes few tokens, and answers a longer request as it does.
func small(d script.Dialect, overflow script.Reply) *script.Server {
	answer := reader(10)
	model := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		if tokens(q) > window {
			return &overflow
		}
		return answer(q)
	}})
	model.Dialect = d
	return model
}

const window = 3000

// tokens are those of a request, as the scripted server counts them.
func tokens(q script.Request) int { return len(q.Body)/4 + 1 }

// long lets runs have many turns.
func long(r *run.Runs) { r.Turns = 20 }

// reads checks a run of ten calls, and gives how many requests were too long.
func reads(r *executor.Server, a *provider.Answer, b *provider.Source) (overflows int) {
	r.T.Helper()
	if a.Text != "I have read 10 pages." || a.Last != "stop" || len(b.Calls()) != 10 {
		r.T.Fatalf("%d %q after %d calls\n%s", a.Status, a.Text, len(b.Calls()), r.Log)
	}
	for _, q := range r.Model.Requests("") {
		if why := paired(q); why != "" {
			r.T.Errorf("%s: %s", why, q.Body)
		}
		if q.Messages[0].Text != "find news, fetch the first, save a summary" {
			r.T.Errorf("the user is not heard: %s", q.Body)
		}
		if tokens(q) > window {
			overflows++
		}
	}
	return overflows
}

// A server that takes few tokens answers a long run all the same, whatever its words for a
// request that is too long.
func TestRunOverflows(t *testing.T) {
	for name, c := range map[string]struct {
		server   func() script.Dialect
		overflow script.Reply
	}{
		"vLLM":      {script.VLLM, servers.OverflowVLLM(window, 9000)},
		"vLLM, 413": {script.VLLM, script.Fail(413, "This model's maximum context length is 3000 tokens. However, you requested 9000 tokens.")},
		"old vLLM": {servers.OldVLLM,
			script.Fail(400, "This model's maximum context length is 3000 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).")},
		"llama.cpp": {servers.LlamaCPP, servers.OverflowLlamaCPP(window, 9000)},
		"SGLang": {servers.SGLang,
			script.Fail(400, "The input (9000 tokens) is longer than the model's context length (3000 tokens).")},
		"Ollama": {servers.Ollama,
			script.Fail(400, "the prompt is longer than the context length currently available to the model")},
		"LM Studio": {servers.LMStudio, script.Fail(400, "The number of tokens to keep from the initial prompt is greater than the context length.")},
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", stream ", stream), func(t *testing.T) {
				b := &provider.Source{Result: page}
				r := executor.Serve(t, b, long, small(c.server(), c.overflow))
				a := r.Run(stream, "")
				if asked, told := reads(r, a, b), r.Log.Count("context_overflow"); told != asked || told == 0 ||
					told > 2 {
					t.Errorf("%d requests were too long, and the log tells %d\n%s", asked, told, r.Log)
				}
			})
		}
	}
}

// Where the server says how much it takes, or the rules do, no request is too long.
func TestRunFits(t *testing.T) {
	vllm, ollama := script.VLLM(), servers.Ollama()
	vllm.Pages["/v1/models"] = strings.Replace(vllm.Pages["/v1/models"], "131072", fmt.Sprint(window), 1)
	for name, d := range map[string]script.Dialect{"the server says it": vllm, "the rules say it": ollama} {
		b := &provider.Source{Result: page}
		r := executor.Serve(t, b, func(r *run.Runs) {
			r.Turns, r.Context.Window, r.Context.Reserve, r.Context.Keep = 20, window, 200, 1
		}, small(d, servers.OverflowVLLM(window, 9000)))
		if n := reads(r, r.Run(true, ""), b); n != 0 {
			t.Errorf("%s: %d requests were too long", name, n)
		}
		if r.Log.Count("context_window_approaching") == 0 {
			t.Errorf("%s: the log does not tell that the context fills up", name)
		}
	}
}

// A server that leaves out old messages without a word is noticed by its count, and asked again
// with what fits.
func TestRunDropped(t *testing.T) {
	answer := reader(10)
	dropped := 0
	model := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		if tokens(q) <= window {
			return answer(q)
		}
		dropped++
		return &script.Reply{Content: "How can I help?", Prompt: 2000}
	}})
	model.Dialect = servers.Ollama()
	b := &provider.Source{Result: page}
	r := executor.Serve(t, b, long, model)
	reads(r, r.Run(false, ""), b)
	if n := r.Log.Count("context_overflow"); n != dropped || n == 0 || n > 2 {
		t.Errorf("messages were dropped %d times, and the log tells %d\n%s", dropped, n, r.Log)
	}
}

// What does not fit even so is the caller's: it gets the status on which OpenClaw compacts, as
// long as nothing was changed.
func TestRunTooLong(t *testing.T) {
	write := script.Native("write", `{"path":"/tmp/a","content":"x"}`)
	for name, c := range map[string]struct {
		replies []script.Reply
		status  int
		asked   int
	}{
		"at once": {[]script.Reply{servers.OverflowVLLM(window, 9000)}, 400, 1},
		"after a read": {[]script.Reply{script.Native("web_fetch", `{"url":"https://example.com/a"}`),
			servers.OverflowVLLM(window, 9000), servers.OverflowVLLM(window, 9000)}, 400, 3},
		"after a write": {[]script.Reply{write, write, servers.OverflowVLLM(window, 9000), servers.OverflowVLLM(window, 9000)}, 200, 4},
	} {
		b := &provider.Source{Result: page}
		r := executor.Play(t, b, nil, c.replies...)
		a := r.Run(false, "")
		if a.Status != c.status || len(r.Model.Requests("")) != c.asked || c.status == 400 &&
			a.Fault.Code != "context_length_exceeded" ||
			c.status == 200 && !strings.Contains(a.Text, "- write: /tmp/a") {
			t.Errorf("%s: %d after %d requests: %s", name, a.Status, len(r.Model.Requests("")), a.Body)
		}
	}
}

// A request that asks for it is told what the run did; no other one.
func TestRunMetadata(t *testing.T) {
	for _, c := range []struct {
		more   string
		stream bool
		want   bool
	}{{`"executor_metadata":true`, true, true}, {`"executor_metadata":true`, false, true},
		{`"executor_metadata":false`, true, false}, {"", false, false}} {
		r := executor.Play(t, &provider.Source{}, nil, script.Native("web_search", `{"query":"news"}`),
			script.Native("write", `{"path":"/etc/passwd","content":"x"}`), script.Text("ok"))
		a := r.Run(c.stream, c.more)
		var found []gjson.Result
		for line := range strings.Lines(a.Body) {
			if m := gjson.Get(strings.TrimPrefix(line, "data: "), "executor_metadata"); m.Exists() {
				found = append(found, m)
			}
		}
		if a.Text != "ok" || len(found) > 1 || len(found) == 1 != c.want {
			t.Errorf("%+v: %s", c, a.Body)
			continue
		}
		if !c.want {
			continue
		}
		m := found[0]
		if m.Get("run_id").Str != a.Header.Get("X-Run-Id") || m.Get("iterations").Int() != 3 ||
			m.Get("tools_called").Raw != `["web_search"]` ||
			m.Get("total_tool_execution_time_ms").Type != gjson.Number ||
			m.Get("context_usage_percent").Num <= 0 || m.Get("context_usage_percent").Num > 5 {
			t.Errorf("%+v: %s", c, m.Raw)
		}
	}
}

// A prompt of which the model server has read much less than it was sent is told to the operator.
func TestPromptCut(t *testing.T) {
	for _, row := range []struct {
		dialect      script.Dialect
		prompt, want int
	}{
		{servers.Ollama(), 1000, 1}, // it does not tell its window
		{servers.Ollama(), 12_000, 0},
		{script.VLLM(), 1000, 0}, // its window is large enough: it counts only what is new
	} {
		for _, more := range []string{"", provider.Streaming + ","} {
			reply := script.Text("Yes.")
			reply.Prompt = row.prompt
			model := script.New(script.Scenario{Steps: []script.Reply{reply}})
			model.Dialect = row.dialect
			r := provider.Start(t, provider.Setup{}, model)
			a := r.Chat(`{` + more +
				`"model":"gpt-oss","messages":[{"role":"user","content":"` + strings.Repeat("word ", 10_000) +
				`"}]}`)
			if n := r.Log.Count("prompt_cut"); n != row.want || a.Text != "Yes." {
				t.Errorf("%s, %d tokens read: said %d times, %q", row.dialect.ID, row.prompt, n, a.Text)
			}
		}
	}
}
