package sidecar

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// chunk is a chat.completion.chunk or a chat.completion.
type chunk struct {
	ID      string       `json:"id"`
	Choices []choiceSaid `json:"choices"`
	Usage   *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
	Error *fault `json:"error"`
}

type choiceSaid struct {
	Index   int    `json:"index"`
	Delta   part   `json:"delta"`
	Message part   `json:"message"`
	Finish  string `json:"finish_reason"`
}

type part struct {
	Role      string         `json:"role"`
	Content   string         `json:"content"`
	Thought   string         `json:"reasoning_content"`
	ToolCalls []toolCallSaid `json:"tool_calls"`
}

type toolCallSaid struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type fault struct{ Message, Type, Param, Code string }

// event is a piece of a stream, and when it came.
type event struct {
	chunk
	at time.Duration // since the headers
}

// answer is what a caller has read. Text, thoughts and calls are of choice 0.
type answer struct {
	status              int
	header              http.Header
	body                string
	events              []event
	ids                 map[string]bool
	roles, empty        int // chunks with a role; chunks that say nothing
	text, thought, last string
	calls               []call
	usage               int // total tokens; 0: none were told
	done                bool
	fault               fault
}

type call struct{ ID, Name, Args string }

func readAnswer(t testing.TB, res *http.Response) *answer {
	t.Helper()
	defer res.Body.Close()
	a := &answer{status: res.StatusCode, header: res.Header, ids: map[string]bool{}}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		doc, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		a.body = string(doc)
		a.add(t, doc, 0)
		return a
	}
	began, lines := time.Now(), bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		a.body += line
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case ok && data == "[DONE]":
			a.done = true
		case ok:
			a.add(t, []byte(data), time.Since(began))
		}
		if err != nil {
			return a
		}
	}
}

func (a *answer) add(t testing.TB, doc []byte, at time.Duration) {
	t.Helper()
	e := event{at: at}
	if said, is, done := ofResponses(gjson.ParseBytes(doc)); is {
		e.chunk, a.done = said, done
		if len(said.Choices) == 0 {
			a.empty++
			a.events = append(a.events, e)
			return
		}
	} else if err := json.Unmarshal(doc, &e.chunk); err != nil {
		t.Fatalf("not JSON: %v in %q", err, doc)
	}
	a.events = append(a.events, e)
	if e.Error != nil {
		a.fault = *e.Error
		return
	}
	if e.ID != "" {
		a.ids[e.ID] = true
	}
	if e.Usage != nil {
		a.usage = e.Usage.Total
	}
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		p := c.Delta
		if c.Message.Role != "" {
			p = c.Message
		}
		a.take(p)
		if c.Finish != "" {
			a.last = c.Finish
		} else if p.Role == "" && p.Content == "" && p.Thought == "" && len(p.ToolCalls) == 0 {
			a.empty++
		}
	}
}

func (a *answer) take(p part) {
	if p.Role != "" {
		a.roles++
	}
	a.text += p.Content
	a.thought += p.Thought
	for _, c := range p.ToolCalls {
		a.calls = append(a.calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
}
