package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
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
	Status  int    `json:"-"`
	Code    any    `json:"code"` // a word; some servers repeat the status
	Message string `json:"message"`
}

// chunk is the data of one server-sent event.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Thought   string `json:"reasoning_content"`
			Reasoning string `json:"reasoning"` // vLLM's name for it
			ToolCalls []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Error *fault `json:"error"`
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
	var e chunk
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || e.Error == nil {
		return fmt.Errorf("status %d with a body that is no error object", resp.StatusCode)
	}
	a.fault = e.Error
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
		var e chunk
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("an event is not JSON: %q: %w", data, err)
		}
		a.add(e)
		if a.text != "" && a.first == 0 {
			a.first = time.Since(began)
		}
	}
	return lines.Err()
}

func (a *answer) add(e chunk) {
	if e.Error != nil {
		a.fault = e.Error
	}
	for _, c := range e.Choices {
		a.text += c.Delta.Content
		a.reasoning += c.Delta.Thought + c.Delta.Reasoning
		if c.Finish != "" {
			a.finish = c.Finish
		}
		for _, t := range c.Delta.ToolCalls {
			for t.Index >= len(a.calls) {
				a.calls = append(a.calls, call{})
			}
			at := &a.calls[t.Index]
			at.ID += t.ID
			at.Name += t.Function.Name
			at.Args += t.Function.Arguments
		}
	}
}
