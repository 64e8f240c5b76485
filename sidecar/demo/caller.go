package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// caller asks as OpenClaw does: streamed, with tools. It knows nothing of the
// sidecar's own code, so that a mistake there is not repeated here.
type caller struct{ http *http.Client }

func newCaller() caller {
	return caller{&http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
}

// answer is what a caller has read of one reply.
type answer struct {
	text, reasoning string
	calls           []call
	finish          string
	fault           *fault
	rules           string        // X-Rules-Version
	first           time.Duration // until there was text
	asked           int           // requests that the model got for it
}

type call struct{ ID, Name, Args string }

// fault is an error, as a status or inside the stream.
type fault struct {
	Status        int
	Code, Message string // no code where the server's is no word
}

// ask sends one message to the server at base and reads the reply to its end.
func (c caller) ask(ctx context.Context, base, message string) (answer, error) {
	body, err := json.Marshal(map[string]any{
		"model": "gpt-oss", "stream": true, "tools": offered(),
		"messages": []map[string]string{{"role": "user", "content": message}},
	})
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{rules: resp.Header.Get("X-Rules-Version")}
	if resp.StatusCode != http.StatusOK {
		return a, a.refused(resp)
	}
	return a, a.read(resp.Body, began)
}

func (a *answer) refused(resp *http.Response) error {
	doc, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if a.add(string(doc)); a.fault == nil {
		return fmt.Errorf("status %d with a body that is no error object", resp.StatusCode)
	}
	a.fault.Status = resp.StatusCode
	return nil
}

func (a *answer) read(stream io.Reader, began time.Time) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		if !gjson.Valid(data) {
			return fmt.Errorf("an event is not JSON: %q", data)
		}
		a.add(data)
		if a.text != "" && a.first == 0 {
			a.first = time.Since(began)
		}
	}
	return lines.Err()
}

// add takes the data of one event, or of a body.
func (a *answer) add(data string) {
	doc := gjson.Parse(data)
	if e := doc.Get("error"); e.IsObject() {
		a.fault = &fault{Code: e.Get("code").Str, Message: e.Get("message").Str}
	}
	for _, c := range doc.Get("choices").Array() {
		delta := c.Get("delta")
		a.text += delta.Get("content").Str
		a.reasoning += delta.Get("reasoning_content").Str + delta.Get("reasoning").Str // the latter is vLLM's name for it
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
