package setup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// caller asks as OpenClaw does: streamed, with tools. It shares no code with the sidecar, so that it does
// not repeat a mistake.
type caller struct{ http *http.Client }

func newCaller() caller {
	return caller{&http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
}

// answer is one reply as a caller reads it.
type answer struct {
	text, reasoning string
	calls           []call
	finish          string
	status          int // of HTTP
	// an error in the body or in the stream: its code, if that is a word, and its message
	fault string
	rules string        // X-Rules-Version
	first time.Duration // time to the first text
	asked int           // requests to the model
}

type call struct{ ID, Name, Args string }

// ask sends one message to the server at base and reads the reply to its end.
func (c caller) ask(ctx context.Context, base, message string) (answer, error) {
	return c.asks(ctx, base, "gpt-oss", message, offered())
}

// asks is ask for a model and tools.
func (c caller) asks(ctx context.Context, base, model, message string, tools any) (a answer, err error) {
	body, err := json.Marshal(map[string]any{
		"model": model, "stream": true, "tools": tools,
		"messages": []map[string]string{{"role": "user", "content": "Hello."},
			{"role": "assistant", "content": "What shall I do?"}, {"role": "user", "content": message}},
	})
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions",
		bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status, a.rules = resp.StatusCode, resp.Header.Get("X-Rules-Version")
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, isEvent := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case data == "[DONE]", !isEvent && a.status == http.StatusOK:
			continue
		case !gjson.Valid(data):
			return a, fmt.Errorf("this is not JSON: %q", data)
		}
		a.add(gjson.Parse(data))
		if a.text != "" && a.first == 0 {
			a.first = time.Since(began)
		}
	}
	return a, lines.Err()
}

// add adds one event, or the body of an error.
func (a *answer) add(doc gjson.Result) {
	if e := doc.Get("error"); e.IsObject() {
		a.fault = strings.TrimPrefix(e.Get("code").Str+": "+e.Get("message").Str, ": ")
	}
	for _, c := range doc.Get("choices").Array() {
		delta := c.Get("delta")
		a.text += delta.Get("content").Str
		// vLLM uses the latter name
		a.reasoning += delta.Get("reasoning_content").Str + delta.Get("reasoning").Str
		a.finish = cmp.Or(c.Get("finish_reason").Str, a.finish)
		for _, t := range delta.Get("tool_calls").Array() {
			i := int(t.Get("index").Int())
			for i >= len(a.calls) {
				a.calls = append(a.calls, call{})
			}
			at := &a.calls[i]
			at.ID += t.Get("id").Str
			at.Name += t.Get("function.name").Str
			at.Args += t.Get("function.arguments").Str
		}
	}
}
