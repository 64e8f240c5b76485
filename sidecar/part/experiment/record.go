package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// CaptureRecord is a line of a segment. It shares the field names of replay.Record. The messages are inside
// request, since replay takes a document with messages for a request.
type CaptureRecord struct {
	At        time.Time         `json:"at"`
	ID        string            `json:"id"`
	Model     string            `json:"model"`
	Server    string            `json:"server,omitempty"`
	Session   string            `json:"session,omitempty"`
	Agent     string            `json:"agent,omitempty"`
	Channel   string            `json:"channel,omitempty"`
	Caller    string            `json:"caller,omitempty"` // field user of the request
	User      string            `json:"user,omitempty"`   // what the user said last
	Workspace string            `json:"workspace,omitempty"`
	Rules     string            `json:"rules_version,omitempty"`
	Style     string            `json:"style,omitempty"`
	Profile   string            `json:"profile,omitempty"`
	Arms      []string          `json:"arms,omitempty"`
	Message   Message           `json:"message"`
	Tools     []json.RawMessage `json:"tools"` // null: unknown, since they were too long
	// length if the message was cut, so that its end is incomplete
	Finish  string         `json:"finish_reason"`
	Reading Made           `json:"reading"`
	Outcome Came           `json:"outcome"`
	Shadow  *shadowReading `json:"shadow,omitempty"`
	Request *Asked         `json:"request,omitempty"`
	Masked  int            `json:"masked,omitempty"` // secrets
	// what was cut → its size in bytes or calls
	Cut map[string]int `json:"cut,omitempty"`
}

// Message is the message of the server.
type Message struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
}

// toolCall is a call in OpenAI's format.
type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function is the function of a call.
type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Made is a reading. Texts equal to the server's are left out.
type Made struct {
	Calls     []Call    `json:"calls"`
	Content   *string   `json:"content,omitempty"`
	Reasoning *string   `json:"reasoning,omitempty"`
	Finish    string    `json:"finish_reason,omitempty"`
	Refused   []refusal `json:"refused,omitempty"`
	Early     bool      `json:"ended_early,omitempty"`
}

// Came is the outcome of a reply. Times are in milliseconds.
type Came struct {
	Turns        int     `json:"turns,omitempty"`         // requests to the server
	Fault        string  `json:"fault,omitempty"`         // of the last reply; empty: none
	PromptTokens int     `json:"prompt_tokens,omitempty"` // 0: unknown
	Tokens       int     `json:"tokens,omitempty"`        // of the reply
	First        float64 `json:"first_ms,omitempty"`      // to the first delta
	All          float64 `json:"all_ms,omitempty"`        // of the whole reply
}

// shadowReading is the reading of a shadow arm.
type shadowReading struct {
	Arm string `json:"arm"`
	Made
}

// Asked is the request to the model.
type Asked struct {
	Messages json.RawMessage `json:"messages"`
}

// maxLine is the maximal length of a line.
const maxLine = 4 << 20

var errTooLong = errors.New("it is too long to be recorded")

// line encodes an entry. A record that is too long, for example because of control characters, is encoded
// again with short texts.
func (e *entry) line(known *offered) ([]byte, error) {
	for _, most := range [...]int{maxText, maxText / 16} {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e.record(most, known)); err != nil {
			return nil, err
		}
		if buf.Len() <= maxLine {
			return buf.Bytes(), nil
		}
	}
	return nil, errTooLong
}

// record builds the record of an entry, with secrets masked and texts of at most most bytes.
func (e *entry) record(most int, known *offered) *CaptureRecord {
	r := e.reply
	m := &mask{on: e.rule.Mask, most: most, cut: map[string]int{}}
	maps.Copy(m.cut, e.cut)
	out := &CaptureRecord{
		At: r.At, ID: m.name(r.ID), Model: m.name(r.Model), Server: m.name(r.Server),
		Session: m.name(r.Session), Agent: m.name(r.Agent), Channel: m.name(r.Channel),
		Caller: m.name(r.Caller), User: m.text("user", r.User),
		Workspace: m.name(r.Workspace), Rules: m.name(r.Rules), Style: m.name(r.Style),
		Profile: m.name(r.Profile), Finish: m.name(r.Finish),
		Message: m.message(r), Reading: m.made("reading", r, &r.Reading), Outcome: r.Outcome,
		Cut: m.cut,
	}
	for _, arm := range r.Arms[:min(len(r.Arms), maxCapturedCalls)] {
		out.Arms = append(out.Arms, m.name(arm))
	}
	if s := r.Shadow; s != nil {
		out.Shadow = &shadowReading{m.name(s.Arm), m.made("shadow", r, &s.Reading)}
	}
	if r.Messages != nil && len(r.Messages) <= 4*most {
		out.Request = &Asked{m.document(r.Messages)}
	} else if r.Messages != nil {
		m.cut["messages"] = len(r.Messages)
	}
	if _, without := m.cut["tools"]; !without {
		list, n := known.list(r.Tools, m.on)
		out.Tools, m.n = list, m.n+n
	}
	for _, part := range [...]string{"message", "content", "reasoning", "calls"} {
		if _, is := m.cut[part]; is {
			out.Finish = "length"
		}
	}
	out.Masked = m.n
	return out
}

func (m *mask) message(r *captureReply) Message {
	out := Message{Content: m.text("content", r.Content), Reasoning: m.text("reasoning", r.Reasoning)}
	for _, c := range r.Calls {
		if len(c.Arguments) > m.most {
			m.cut["calls"] = max(m.cut["calls"], len(r.Calls))
			break
		}
		out.Calls = append(out.Calls, toolCall{m.name(c.ID), "function",
			function{m.name(c.Name), m.hide(c.Arguments)}})
	}
	return out
}

// made builds the record of a reading, without texts equal to the server's.
func (m *mask) made(name string, sent *captureReply, r *captureReading) Made {
	out := Made{Calls: []Call{}, Finish: m.name(r.Finish), Early: r.Early}
	if r.Content != sent.Content {
		text := m.text(name+".content", r.Content)
		out.Content = &text
	}
	if r.Reasoning != sent.Reasoning {
		text := m.text(name+".reasoning", r.Reasoning)
		out.Reasoning = &text
	}
	for _, c := range r.Calls {
		if len(c.Arguments) > m.most {
			m.cut[name+".calls"] = max(m.cut[name+".calls"], len(r.Calls))
			break
		}
		c.Name, c.Strategy, c.Arguments = m.name(c.Name), m.name(c.Strategy), m.document(c.Arguments)
		out.Calls = append(out.Calls, c)
	}
	for _, f := range r.Refused {
		out.Refused = append(out.Refused, refusal{m.name(f.Code), m.name(f.Name), m.within(f.Why, maxWhy)})
	}
	return out
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// offered remembers encoded lists of tools: most requests repeat them, and masking them takes longer than
// all else.
type offered struct{ of *recent.Map[written] } // by a hash

func newOffered() *offered { return &offered{recent.New[written](maxOffered, nil)} }

type written struct {
	list []json.RawMessage
	n    int // secrets
}

// maxOffered is how many lists are remembered.
const maxOffered = 32

func (o *offered) list(tools []tools.Tool, on bool) ([]json.RawMessage, int) {
	sum := sha256.New()
	if on {
		sum.Write([]byte{1})
	}
	for _, t := range tools {
		sum.Write(quoted(t.Name))
		sum.Write(t.Parameters)
		sum.Write([]byte{0})
	}
	key := string(sum.Sum(nil))
	if w := o.of.Get(key); w != nil {
		return w.list, w.n
	}
	m := mask{on: on}
	w := written{list: []json.RawMessage{}}
	for _, t := range tools {
		doc := append([]byte(`{"name":`), quoted(m.name(t.Name))...)
		if p := m.document(t.Parameters); p != nil {
			doc = append(append(doc, `,"parameters":`...), p...)
		}
		w.list = append(w.list, append(doc, '}'))
	}
	w.n = m.n
	kept, _ := o.of.Use(key)
	*kept = w
	return w.list, w.n
}

const (
	maxName = 256
	maxWhy  = 4 << 10
)

// mask masks secrets, shortens texts, and counts both.
type mask struct {
	on   bool
	most int // bytes of a text
	n    int // secrets that were masked
	cut  map[string]int
}

// text masks and shortens a text. JSON remains JSON.
func (m *mask) text(name, s string) string {
	if len(s) > m.most {
		m.cut[name] = max(len(s), m.cut[name])
	}
	return m.within(s, m.most)
}

// within shortens a text to most bytes. It cuts again after masking, so that the rest of a secret at the
// first cut is removed.
func (m *mask) within(s string, most int) string {
	if len(s) > most+margin {
		s = m.hide(scan.Head(s, most+margin))
		s = scan.Head(s, max(0, len(s)-margin))
	} else {
		s = m.hide(s)
	}
	return scan.Head(s, most)
}

// name shortens a name.
func (m *mask) name(s string) string { return m.within(s, maxName) }

func (m *mask) hide(s string) string {
	if !m.on {
		return s
	}
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return string(m.json(json.RawMessage(s)))
	}
	s, n := secrets.Mask(s)
	m.n += n
	return s
}

// json masks a document, which stays the same byte for byte if it has no secrets.
func (m *mask) json(doc json.RawMessage) json.RawMessage {
	if !m.on || len(doc) == 0 {
		return doc
	}
	out, n, err := secrets.MaskJSON(doc)
	if err != nil { // not JSON, so it is a text
		text, n := secrets.Mask(string(doc))
		m.n += n
		return quoted(text)
	}
	if n == 0 {
		return doc
	}
	m.n += n
	return out
}

// document returns valid JSON for a record, whatever doc is.
func (m *mask) document(doc json.RawMessage) json.RawMessage {
	switch {
	case len(doc) == 0:
		return nil
	case !json.Valid(doc):
		return quoted(m.hide(string(doc)))
	}
	return m.json(doc)
}

func quoted(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // no text has one
	}
	return out
}
