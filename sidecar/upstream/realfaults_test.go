package upstream_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

var update = flag.Bool("update", false, "write the table of real servers in docs/errors.md anew")

// The table stands on this page between these lines.
const (
	faultsFile  = "../../docs/errors.md"
	faultsBegin = "<!-- TestRealFaults writes what follows -->\n"
	faultsEnd   = "\n<!-- and ends here -->\n"
)

// both is said of an answer with the text in front of the call, too.
const both = "the text and the call"

// realFault is what a model says, and what a caller of the sidecar gets of it.
type realFault struct {
	about   string
	says    []modelserver.Reply
	history string // messages in front of the question
	args    string // of the call that is meant; "": those of reading a.txt
	keeps   string // stands in the history, and in what the model reads
	want    string // of both modes, in words of came
	asked   int    // at most; behind a proxy without Ollama's own API once more
	window  int    // of the server; 0: large
}

func realFaults() (ollama, llama []realFault) {
	const (
		thinks   = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
		preamble = "<|channel|>commentary<|message|>I read the file now.<|end|><|start|>assistant"
		calls    = "<|channel|>commentary to=functions.read <|constrain|>json<|message|>"
		good     = thinks + calls + `{"path":"a.txt"}<|call|>`
		bad      = thinks + calls + `{'path': 'a.txt'}<|call|>`
		number   = thinks + "<|channel|>commentary to=functions.exec <|constrain|>json<|message|>" +
			`{"command":"ls","timeout":NUMBER}<|call|>`
		user, made = `{"role":"user","content":"go"},`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},`
		result     = `{"role":"tool","tool_call_id":"c1","content":"text"},`
	)
	say := func(texts ...string) (out []modelserver.Reply) {
		for _, text := range texts {
			out = append(out, modelserver.Reply{Text: text})
		}
		return out
	}
	row := func(begin ...string) []string {
		for range 40 {
			begin = append(begin, "=")
		}
		return begin
	}
	const call = "the call"
	two := strings.Replace(good, "<|call|>", "<|end|><|start|>assistant", 1) + calls + `{"path":"a.txt"}<|call|>`
	number1 := strings.Replace(number, "NUMBER", "12345678901234567890", 1)
	number2 := strings.Replace(number, "NUMBER", `"12345678901234567890"`, 1)
	long := strings.Repeat("and so on ", 40)
	return []realFault{
			{about: "no fault", says: say(good), want: call, asked: 1},
			{about: "bad JSON behind a thought", says: say(bad, bad), want: call, asked: 1},
			{about: "bad JSON behind a text", says: say(thinks+preamble+calls+`{'path': 'a.txt'}<|call|>`, bad), want: both, asked: 1},
			{about: "two calls in one reply", says: say(two, two), want: call, asked: 1},
			{about: "one piece more than 30 times in a row", says: []modelserver.Reply{{Pieces: row("<|channel|>", "final", "<|message|>", "A", " row:")}}, want: "the text, and why it ends", asked: 1},
			{about: "the same in arguments, then the call", says: []modelserver.Reply{{Pieces: row(calls, `{"path":"`)}, {Text: good}}, want: call, asked: 2},
			{about: "an integer with more than 15 digits", says: say(number1, number2), args: `{"command":"ls","timeout":12345678901234567890}`, want: call, asked: 2},
			{about: "the process that computes dies behind a thought", says: []modelserver.Reply{{Text: thinks, Die: true}, {Text: good}}, want: call, asked: 2},
			{about: "it dies at once", says: []modelserver.Reply{{Die: true}, {Text: good}}, want: call, asked: 2},
			{about: "`content: null` in the history", says: say(good), history: user + `{"role":"assistant","content":null,"reasoning_content":"Hm."},`, want: call, asked: 1},
			{about: "an image in the history", says: say(good), history: user + made + `{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a.png"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},`, keeps: "functions.read to=assistant", want: call, asked: 1},
			{about: "a prompt that is longer than the context", says: say(good, good), history: `{"role":"user","content":"The first words. ` + long + `"},` + made + strings.Replace(result, "text", long, 1) + user + made + result, keeps: "The first words.", want: "400 context_length_exceeded", asked: 1, window: 1024},
		}, []realFault{
			{about: "text without a header", says: say("Plain text.", good), want: call, asked: 2},
			{about: "a channel that does not exist", says: say("<|channel|>thoughts<|message|>Hi.", good), want: call, asked: 2},
			{about: "a tool that was not offered", says: say(`<|channel|>analysis to=browser.search code<|message|>{"query":"x"}<|call|>`, good), want: call, asked: 2},
			{about: "arguments in the history that are no JSON", says: say(good), history: user + strings.Replace(made, `"{}"`, `"{'a'"`, 1) + result, want: call, asked: 1},
		}
}

// came is what a caller has of an answer, in words.
func (f *realFault) came(a *provider.Answer, streamed bool, prompts []modelserver.Prompt) string {
	args := f.args
	if args == "" {
		args = `{"path":"a.txt"}`
	}
	called := len(a.Calls) == 1 && a.Calls[0].Args == args
	out := "the text, as if it were whole"
	switch {
	case a.Status != http.StatusOK && strings.Contains(a.Fault.Code, "_"):
		return fmt.Sprintf("%d %s", a.Status, a.Fault.Code)
	case a.Status != http.StatusOK:
		return fmt.Sprintf("error %d", a.Status)
	case a.Fault.Message != "":
		return "an error"
	case streamed && !a.Done && a.Text != "":
		return "the text, and it breaks off"
	case streamed && !a.Done:
		return "it breaks off"
	case called && a.Text != "":
		out = both
	case called:
		out = "the call"
	case len(a.Calls) > 0:
		out = "another call"
	case a.Last == "length":
		out = "the text, and why it ends"
	case a.Text == "":
		return "nothing"
	}
	if n := len(prompts); n > 0 && !strings.Contains(prompts[n-1].Text, f.keeps) {
		return out + ", of a history that lost something"
	}
	return out
}

// TestRealFaults compares what real servers make of damaged replies and histories, streamed and whole, with
// what comes through the sidecar: of Ollama over its own API and behind a proxy that has chat completions
// alone. The page shows both. The chat layer of llama.cpp has no streams.
func TestRealFaults(t *testing.T) {
	ollama, llama := realFaults()
	var table strings.Builder
	table.WriteString("\n| | the server alone, streamed | whole | with the sidecar |\n|---|---|---|---|\n")
	whole := true
	for _, kind := range []struct {
		name, server string
		faults       []realFault
		modes, ways  []bool // streamed, behind a proxy
		start        func(modelserver.Config, testing.TB) *modelserver.Server
	}{
		{"Ollama", "", ollama, []bool{true, false}, []bool{false, true}, func(c modelserver.Config, t testing.TB) *modelserver.Server { return c.Ollama(t) }},
		{"llama.cpp", "llamacpp", llama, []bool{false}, []bool{false}, func(c modelserver.Config, t testing.TB) *modelserver.Server { return c.LlamaChat(t) }},
	} {
		ran := t.Run(kind.name, func(t *testing.T) {
			for _, f := range kind.faults {
				cells := []string{kind.name + ": " + f.about, "–", "–"}
				for _, streamed := range kind.modes {
					more, at := "", 2
					if streamed {
						more, at = provider.Streaming+",", 1
					}
					body := func(model string) string {
						return fmt.Sprintf(`{%s%s,"max_tokens":200,"model":%q,"messages":[%s{"role":"user","content":"go"}]}`,
							more, provider.BothTools, model, f.history)
					}
					server := kind.start(modelserver.Config{Window: f.window}, t)
					server.Say(f.says...)
					res, err := http.Post(server.URL+"/v1/chat/completions", "application/json",
						strings.NewReader(body(modelserver.Model)))
					ruletest.Must(t, err)
					cells[at] = f.came(provider.ReadAnswer(t, res), streamed, server.Prompts())
					for _, proxied := range kind.ways {
						if proxied && testing.Short() {
							continue
						}
						server := kind.start(modelserver.Config{Window: f.window}, t)
						server.Say(f.says...)
						r := provider.Start(t, provider.Setup{Server: kind.server}, behind(t, server, proxied))
						a := r.Chat(body("gpt-oss"))
						// Chat completions drop old messages, and the text in front of a call in a whole reply.
						lost := proxied && (f.window > 0 || !streamed && f.want == both)
						if got := f.came(a, streamed, server.Prompts()); got != f.want && !lost {
							t.Errorf("%s, streamed %v, proxied %v: %s, want %s\n%s", f.about, streamed, proxied, got, f.want, a.Body)
						}
						if n := len(server.Prompts()); n > f.asked && !(proxied && n == f.asked+1) {
							t.Errorf("%s, streamed %v, proxied %v: asked %d times", f.about, streamed, proxied, n)
						}
					}
				}
				fmt.Fprintf(&table, "| %s | %s |\n", strings.Join(cells, " | "), f.want)
			}
		})
		whole = whole && ran && strings.Contains(table.String(), kind.name)
	}
	page, err := os.ReadFile(faultsFile)
	ruletest.Must(t, err)
	head, rest, _ := strings.Cut(string(page), faultsBegin)
	old, tail, found := strings.Cut(rest, faultsEnd)
	switch {
	case !found:
		t.Fatalf("%s has no place for the table", faultsFile)
	case !whole || old == table.String():
	case *update:
		ruletest.Must(t, os.WriteFile(faultsFile, []byte(head+faultsBegin+table.String()+faultsEnd+tail), 0o644))
	default:
		t.Errorf("%s is old; write it anew with -update:\n%s", faultsFile, table.String())
	}
}

// behind is a server, or a proxy in front of it that passes chat completions and not Ollama's own API.
func behind(t *testing.T, server *modelserver.Server, proxied bool) http.Handler {
	at, err := url.Parse(server.URL)
	ruletest.Must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if proxied && r.URL.Path == "/api/chat" {
			http.NotFound(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}
