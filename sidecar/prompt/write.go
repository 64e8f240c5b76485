package prompt

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// native are the members of a request by which a server is told of tools.
var native = []string{"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"}

// Write puts the calls, results and answers of a conversation into the words of the template,
// and takes out what only a server that can call tools understands. The same message becomes
// the same words, so that the server finds what it has cached. p is a style. mask takes the
// control tokens out of a text.
func (p *Prompt) Write(body []byte, mask func(string) string) ([]byte, error) {
	q, err := openai.ParseRequest(body)
	if err != nil {
		return nil, err
	}
	w := writer{p: p, q: q, mask: mask, called: map[string]string{}}
	w.edits = openai.Remove(body, q.Root,
		func(key []byte) bool { return slices.Contains(native, string(key)) })
	for i := 0; i < len(q.Messages) && w.err == nil; i++ {
		switch m := &q.Messages[i]; {
		case m.Role == "tool":
			i = w.results(i)
		case m.Role == "assistant" && len(m.Calls) > 0:
			w.calls(m)
		case m.Role == "assistant":
			w.answer(m)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return openai.Apply(body, w.edits), nil
}

// writer collects the edits of one request.
type writer struct {
	p      *Prompt
	q      *openai.Request
	mask   func(string) string
	called map[string]string // the tool of a call, by its id
	edits  []openai.Edit
	err    error
}

// form is what a form of the template makes of data.
func (w *writer) form(name string, data any) string {
	text, err := w.p.write(name, data)
	if err != nil {
		w.err = err
	}
	return w.mask(strings.TrimSpace(text))
}

// unlimited is the largest text of a message: all of it.
const unlimited = 1 << 30

// calls writes an assistant message that called tools.
func (w *writer) calls(m *openai.Message) {
	reply := Reply{Text: strings.TrimSpace(w.q.Text(m, unlimited))}
	for i := range m.Calls {
		c := &m.Calls[i]
		args, _ := openai.Text(w.q.Body, c.ArgsSpan)
		reply.Calls = append(reply.Calls, Call{c.Name, args, pairsOf(args)})
		w.called[c.ID] = c.Name
	}
	w.content(m, w.form(callsForm, reply))
	w.edits = append(w.edits, openai.Remove(w.q.Body, m.Span,
		func(key []byte) bool { return string(key) == "tool_calls" })...)
}

// answer writes an assistant message without calls.
func (w *writer) answer(m *openai.Message) {
	text := strings.TrimSpace(w.q.Text(m, unlimited))
	if text != "" && w.p.has(answerForm) {
		w.content(m, w.form(answerForm, Answer{text}))
	}
}

// results writes the results from message i on as one message, which is the user's: there is
// no other role that every server knows. It gives the index of the last one.
func (w *writer) results(i int) (last int) {
	msgs := w.q.Messages
	var out Results
	for last = i; last < len(msgs) && msgs[last].Role == "tool"; last++ {
		m := &msgs[last]
		name := m.Name
		if name == "" {
			name = w.called[m.CallID]
		}
		out.Results = append(out.Results, Result{name, strings.TrimSpace(w.q.Text(m, unlimited))})
	}
	last--
	message := openai.AppendString([]byte(`{"role":"user","content":`), w.form(resultsForm, out))
	w.edits = append(w.edits, openai.Edit{Span: openai.Span{From: msgs[i].From, To: msgs[last].To},
		With: append(message, '}')})
	return last
}

func (w *writer) content(m *openai.Message, text string) {
	w.edits = append(w.edits, openai.Set(w.q.Body, m.Span, m.Content, "content",
		openai.AppendString(nil, text)))
}

// pairsOf are the arguments of a call, in their order.
func pairsOf(args string) (out []Pair) {
	gjson.Parse(args).ForEach(func(key, value gjson.Result) bool {
		out = append(out, Pair{key.String(), plain(value.Raw)})
		return true
	})
	return out
}
