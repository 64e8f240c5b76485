package provider

import (
	"bufio"
	"cmp"
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
	Delta   Part   `json:"delta"`
	Message Part   `json:"message"`
	Finish  string `json:"finish_reason"`
}

// Part is a message or a delta.
type Part struct {
	Role      string         `json:"role"`
	Content   string         `json:"content"`
	Thought   string         `json:"reasoning_content"`
	Reasoning string         `json:"reasoning"` // where some servers put reasoning
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

// UnmarshalJSON accepts a number as the code, as llama.cpp writes it.
func (f *fault) UnmarshalJSON(doc []byte) error {
	text := func(name string) string { return gjson.GetBytes(doc, name).String() }
	*f = fault{text("message"), text("type"), text("param"), text("code")}
	return nil
}

// event is a piece of a stream with its time.
type event struct {
	chunk
	At time.Duration // since the headers
}

// Answer is an answer as a caller read it. Text, thoughts and calls are of choice 0.
type Answer struct {
	Status              int
	Header              http.Header
	Body                string
	Events              []event
	IDs                 map[string]bool
	Roles, Empty        int // number of chunks with a role, and of empty chunks
	Text, Thought, Last string
	Calls               []Call
	Usage               int // total tokens; 0: unknown
	Done                bool
	Fault               fault
}

// Call is a call in an answer.
type Call struct{ ID, Name, Args string }

// ReadAnswer reads an answer to its end.
func ReadAnswer(t testing.TB, res *http.Response) *Answer {
	t.Helper()
	return followAnswer(t, res, func(*Answer) {})
}

// followAnswer reads an answer to its end, and calls seen after each event of a stream.
func followAnswer(t testing.TB, res *http.Response, seen func(*Answer)) *Answer {
	t.Helper()
	defer res.Body.Close()
	a := &Answer{Status: res.StatusCode, Header: res.Header, IDs: map[string]bool{}}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		doc, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body = string(doc); len(doc) > 0 { // Ollama may send an empty body
			a.add(t, doc, 0)
		}
		return a
	}
	began, lines := time.Now(), bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		a.Body += line
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case ok && data == "[DONE]":
			a.Done = true
		case ok:
			a.add(t, []byte(data), time.Since(began))
			seen(a)
		}
		if err != nil {
			return a
		}
	}
}

func (a *Answer) add(t testing.TB, doc []byte, at time.Duration) {
	t.Helper()
	e := event{At: at}
	if said, is, done := ofResponses(gjson.ParseBytes(doc)); is {
		e.chunk, a.Done = said, done
		if len(said.Choices) == 0 {
			a.Empty++
			a.Events = append(a.Events, e)
			return
		}
	} else if err := json.Unmarshal(doc, &e.chunk); err != nil {
		t.Fatalf("not JSON: %v in %q", err, doc)
	}
	a.Events = append(a.Events, e)
	if e.Error != nil {
		a.Fault = *e.Error
		return
	}
	if e.ID != "" {
		a.IDs[e.ID] = true
	}
	if e.Usage != nil {
		a.Usage = e.Usage.Total
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
			a.Last = c.Finish
		} else if p.Role == "" && p.Content == "" && p.Thought == "" && p.Reasoning == "" &&
			len(p.ToolCalls) == 0 {
			a.Empty++
		}
	}
}

func (a *Answer) take(p Part) {
	if p.Role != "" {
		a.Roles++
	}
	a.Text += p.Content
	a.Thought += cmp.Or(p.Thought, p.Reasoning)
	for _, c := range p.ToolCalls {
		a.Calls = append(a.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
}
