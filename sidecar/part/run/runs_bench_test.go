package run_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// BenchmarkRun is a run of five turns with four calls that read; bare is the same five
// requests, sent to the model server one after the other. The difference is what the loop
// costs: the two run beside each other, many at once.
func BenchmarkRun(b *testing.B) {
	turns := func(q script.Request) *script.Reply {
		done := 0
		for _, m := range q.Messages {
			if m.Role == "tool" {
				done++
			}
		}
		reply := script.Native("read", `{"path":"/tmp/`+string(rune('a'+done))+`"}`)
		if done == 4 {
			reply = script.Text("Done.")
		}
		return &reply
	}
	model := script.New(script.Scenario{Choose: turns})
	direct := httptest.NewServer(model)
	defer direct.Close()
	set := *ruletest.Shipped(b, executor.Sections()...)
	box := &provider.Source{Result: func(string, int) tools.Result { return tools.Result{Text: "text"} }}
	r := executor.Start(b, provider.Setup{Set: &set}, box, nil, model)
	post := func(b *testing.B, url string, body []byte) {
		res, err := http.Post(url, "application/json", bytes.NewReader(body))
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		if err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(err, res)
		}
	}
	b.Run("run", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				post(b, r.URL+"/v1/chat/completions",
					[]byte(`{"model":"executor","messages":[{"role":"user","content":"go"}]}`))
			}
		})
	})
	var bodies [][]byte
	for n := range 5 {
		for _, q := range model.Requests("") {
			if len(q.Messages) == 1+2*n {
				bodies = append(bodies, q.Body)
				break
			}
		}
	}
	b.Run("bare", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				for _, body := range bodies {
					post(b, direct.URL+"/v1/chat/completions", body)
				}
			}
		})
	})
}
