package telemetry

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Words is a section of limits.yaml.
type Words struct {
	Bytes rulefile.Size `rule:"messages" doc:"How much of what goes in, and of what comes out, one span holds: the newest messages, with secrets masked. If left out, or 0: nothing." eg:"16KiB"`
}

const (
	maxName = 256     // bytes of a name from a caller or a model
	margin  = 8 << 10 // bytes read beyond a cut, which could halve a secret
)

// name returns a short text without secrets.
func name(s string) string {
	if s == "" {
		return ""
	}
	return cut(s, maxName)
}

// cut returns the beginning of a text with its secrets masked. If the text is longer, the end of the part
// that was read is dropped, since half of a secret may be there.
func cut(s string, most int) string {
	if len(s) > most+margin {
		s = mask(scan.Head(s, most+margin))
		s = scan.Head(s, max(0, len(s)-margin))
	} else {
		s = mask(s)
	}
	return scan.Head(s, most)
}

// mask masks secrets, of JSON also by its members.
func mask(s string) string {
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') {
		if out, n, err := secrets.MaskJSON([]byte(t)); err == nil && n > 0 && json.Valid([]byte(t)) {
			return string(out)
		}
	}
	s, _ = secrets.Mask(strings.ToValidUTF8(s, "\ufffd"))
	return s
}

// text returns a text for a span.
func (w *Words) text(s string) string {
	r := room{int(w.Bytes)}
	return r.take(s)
}

// cutMark ends a text that was cut.
const cutMark = "… (cut)"

// message is a message as the conventions say.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string          `json:"type"` // text, reasoning, tool_call, tool_call_response
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  string          `json:"response,omitempty"`
}

// room is the rest of an attribute's bytes.
type room struct{ remaining int }

// take returns as much of a text as there is room for.
func (r *room) take(s string) string {
	most := max(r.remaining, 0)
	out := cut(s, most)
	r.remaining -= len(out) + 64 // for what stands around it
	if len(s) > most {
		out += cutMark
	}
	return out
}

func (r *room) text(kind, s string) []part {
	if s == "" {
		return nil
	}
	return []part{{Type: kind, Content: r.take(s)}}
}

// call returns a call; its arguments become JSON or a string.
func (r *room) call(id, tool, arguments string) part {
	args := []byte(r.take(arguments))
	if !json.Valid(args) {
		args, _ = json.Marshal(string(args)) // of a string there is no error
	}
	return part{Type: "tool_call", ID: name(id), Name: name(tool), Arguments: args}
}

// messages returns the newest messages of a request that fit.
func (w *Words) messages(req *openai.Request) string {
	r := room{int(w.Bytes)}
	var out []message
	for i := len(req.Messages) - 1; i >= 0 && r.remaining > 0; i-- {
		m := &req.Messages[i]
		entry := message{Role: name(m.Role), Parts: []part{}}
		text := req.Text(m, r.remaining+margin+1)
		if m.Role == "tool" {
			entry.Parts = append(entry.Parts, part{Type: "tool_call_response", ID: name(m.CallID),
				Response: r.take(text)})
		} else {
			thought := req.Reasoning(m)
			entry.Parts = append(entry.Parts, r.text("reasoning", thought)...)
			entry.Parts = append(entry.Parts, r.text("text", text)...)
		}
		for k := range m.Calls {
			args, _ := openai.Text(req.Body, m.Calls[k].ArgsSpan)
			entry.Parts = append(entry.Parts, r.call(m.Calls[k].ID, m.Calls[k].Name, args))
		}
		out = append(out, entry)
	}
	slices.Reverse(out)
	return document(out)
}

// call is a call of a reply.
type call struct{ id, name, arguments string }

// reply returns a message of the model.
func (w *Words) reply(reasoning, content, finish string, calls []call) string {
	in := room{int(w.Bytes)}
	m := message{Role: "assistant", Parts: in.text("reasoning", reasoning), Finish: name(finish)}
	m.Parts = append(m.Parts, in.text("text", content)...)
	for _, c := range calls {
		m.Parts = append(m.Parts, in.call(c.id, c.name, c.arguments))
	}
	return document([]message{m})
}

// reading returns what was read in a reply.
func (w *Words) reading(r *parse.Reading, ids []string) string {
	calls := make([]call, len(r.Calls))
	for i := range r.Calls {
		calls[i] = call{name: r.Calls[i].Name, arguments: string(r.Calls[i].Arguments)}
		if i < len(ids) {
			calls[i].id = ids[i]
		}
	}
	return w.reply(r.Reasoning, r.Content, r.Finish, calls)
}

// output returns a reply as the model server sent it.
func (w *Words) output(d *parse.Delta, thought []byte, finish string) string {
	reasoning := d.Reasoning
	if json.Unmarshal(thought, &reasoning) != nil {
		reasoning = d.Reasoning
	}
	var calls []call
	for _, c := range d.Calls { // in pieces
		if c.Index < 0 || c.Index >= maxEvents {
			continue
		}
		for len(calls) <= c.Index {
			calls = append(calls, call{})
		}
		to := &calls[c.Index]
		to.id, to.name, to.arguments = cmp.Or(to.id, c.ID), to.name+c.Name, to.arguments+string(c.Arguments)
	}
	return w.reply(reasoning, d.Content, finish, calls)
}

func document(list []message) string {
	for i := range list {
		if list[i].Parts == nil {
			list[i].Parts = []part{}
		}
	}
	out, err := json.Marshal(list)
	if err != nil { // arguments are valid, and all else is text
		return "[]"
	}
	return string(out)
}
