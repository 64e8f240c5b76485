package upstream

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// recovering knows all ways of recovery, as every shipped dialect does.
var recovering = &ruleset.Server{ErrorRules: ruleset.ErrorRules{Recover: []ruleset.CallPattern{
	{Field: "error.failed_generation"},
	{Match: regexp.MustCompile(`(?s)error parsing tool call: raw='(?P<args>.*)', err=`)},
	{Match: regexp.MustCompile(`(?s)Failed to parse input at pos \d+: (?P<text>.*)`)},
}}}

func TestRecover(t *testing.T) {
	call := func(name, args string) Recovered { return Recovered{Calls: []RawCall{{name, args}}} }
	tests := []struct {
		name   string
		body   string
		want   Recovered
		wantOK bool
	}{
		{"Ollama", `{"error":{"message":"error parsing tool call: raw='{\"a\": 'b', }', err=invalid character"}}`, call("", `{"a": 'b', }`), true},
		{"Ollama, bare", `{"error":"error parsing tool call: raw='du -sh\n', err=x"}`, call("", "du -sh\n"), true},
		{"Ollama, as a string", `"error parsing tool call: raw='du', err=x"`, call("", "du"), true},
		{"Ollama, string of JSON", `"{\"error\":\"error parsing tool call: raw='du', err=x\"}"`, call("", "du"), true},
		{"Ollama, plain", `error parsing tool call: raw='a', err=b', err=c`, call("", "a', err=b"), true},
		{"Ollama, without raw", `{"error":"error parsing tool call: invalid character ']'"}`, Recovered{}, false},
		{"Ollama, empty raw", `{"error":"error parsing tool call: raw='', err=x"}`, Recovered{}, false},
		{"Groq, object", groq(`{"name": "ls", "arguments": {"path": "/tmp", "n": 1.50}}`), call("ls", `{"path": "/tmp", "n": 1.50}`), true},
		{"Groq, text arguments", groq(`{"name":"ls<|channel|>x","arguments":"{\"a\":1}"}`), call("ls<|channel|>x", `{"a":1}`), true},
		{"Groq, parameters", groq(`{"name":"ls","parameters":{}}`), call("ls", `{}`), true},
		{"Groq, null arguments", groq(`{"name":"ls","arguments":null}`), call("ls", `{}`), true},
		{"Groq, nested", groq(`{"type":"function","function":{"name":"ls","arguments":{}}}`), call("ls", `{}`), true},
		{"Groq, array", groq(`[{"name":"a","arguments":{}},{"name":"b","arguments":{}}]`), Recovered{Calls: []RawCall{{"a", "{}"}, {"b", "{}"}}}, true},
		{"Groq, array of others", groq(`[{"name":"a","arguments":{}},3]`), Recovered{Text: `[{"name":"a","arguments":{}},3]`}, true},
		{"Groq, empty array", groq(`[]`), Recovered{Text: `[]`}, true},
		{"Groq, another object", groq(`{"city":"Rome"}`), Recovered{Text: `{"city":"Rome"}`}, true},
		{"Groq, Harmony", groq(`<|channel|>commentary to=ls`), Recovered{Text: `<|channel|>commentary to=ls`}, true},
		{"Groq, prose", groq(`I cannot.`), Recovered{Text: `I cannot.`}, true},
		{"Groq, nothing", groq(``), Recovered{}, false},
		{"in an event", `data: ` + groq(`{"name":"ls","arguments":{}}`), call("ls", `{}`), true},
		{"through a proxy", `{"error":{"message":"GroqException - {\"error\":{\"failed_generation\":\"hm\"}}","code":"400"}}`, Recovered{Text: "hm"}, true},
		{"llama.cpp", `{"error":{"message":"Failed to parse input at pos 3: <|channel|>final<|message|>Hi"}}`, Recovered{Text: `<|channel|>final<|message|>Hi`}, true},
		{"another error", `{"error":{"message":"n must be 1"}}`, Recovered{}, false},
		{"no body", ``, Recovered{}, false},
	}
	for _, tt := range tests {
		got, ok := Recover(recovering, []byte(tt.body))
		if ok != tt.wantOK || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, ok, tt.want)
		}
	}
}

// groq is an error of Groq that quotes what the model wrote.
func groq(wrote string) string {
	quoted, err := json.Marshal(wrote)
	if err != nil {
		panic(err)
	}
	return `{"error":{"message":"tool call validation failed","code":"tool_use_failed","failed_generation":` +
		string(quoted) + `}}`
}

// Every error of the corpus that quotes generated text gives it back.
func TestRecoverCorpus(t *testing.T) {
	type record struct {
		ID    string `json:"id"`
		Error *struct {
			Status int             `json:"status"`
			Body   json.RawMessage `json:"body"`
		} `json:"upstream_error"`
	}
	quotes := regexp.MustCompile(`raw='|failed_generation"`)
	n := 0
	for _, r := range testkit.Corpus[record](t, "gptoss") {
		if r.Error == nil {
			continue
		}
		n++
		if _, ok := Recover(recovering, r.Error.Body); ok != quotes.Match(r.Error.Body) {
			t.Errorf("%s: recovered: %v", r.ID, ok)
		}
	}
	if n == 0 {
		t.Error("no record with an upstream_error")
	}
}

func FuzzRecover(f *testing.F) {
	f.Add([]byte(groq(`{"name":"a","arguments":{}}`)))
	f.Add([]byte(`"error parsing tool call: raw='{', err="`))
	f.Add([]byte(`{"error":{"message":"x {'error': {'failed_generation': '[1'}}"}}`))
	f.Add([]byte(`data: {"error":"<title>x</title>"}`))
	set := testSet()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := Recover(recovering, body)
		if ok == (got.Text == "" && len(got.Calls) == 0) || got.Text != "" && len(got.Calls) > 0 {
			t.Fatalf("%q: %+v, %v", body, got, ok)
		}
		for i := range set.Servers {
			say := Classify(set, &set.Servers[i], Answer{Body: body}).Say
			if say.Status < 400 || say.Status == 401 || say.Status == 402 || say.Status == 403 ||
				say.Message == "" {
				t.Fatalf("%q: %+v", body, say)
			}
		}
	})
}
