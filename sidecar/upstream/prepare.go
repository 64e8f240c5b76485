package upstream

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Memory is what is known of earlier calls. Each may be nil.
type Memory struct {
	Thoughts CallTexts // the chain of thought that led to a call
	Notes    CallTexts // what the model is told with its result
	ruleset.History
	// how much of a result of so many characters is kept; nil: all
	Bounds func(tool string, chars int) tools.TrimBounds
}

// CallTexts gives the text of a call, by the id that openai.CleanCallID makes of the
// call's.
type CallTexts interface {
	Get(callID string) (string, bool)
}

// NameMender finds the tool that a damaged name means; *tools.Catalog is one.
type NameMender interface {
	Name(raw string) (tools.Match, *tools.Refusal)
}

// Prepare returns the edits that put a request into the dialect of srv, for the
// model m. names may be nil. The edits depend on nothing but the request
// and the arguments, and a message that stays the same is edited the same way
// again, so that the server finds its prefix cache. Bytes that need no edit are
// not touched.
func Prepare(q *openai.Request, srv *ruleset.Server, m ruleset.Model, known Memory,
	names NameMender) []openai.Edit {
	d := draft{q: q, srv: srv, images: m.Images}
	d.fields(m)
	d.tools()
	d.history(known, names)
	return d.edits
}

// draft collects the edits of one request.
type draft struct {
	q      *openai.Request
	srv    *ruleset.Server
	images bool // the model sees them
	edits  []openai.Edit
}

func (d *draft) put(at openai.Span, with []byte) {
	d.edits = append(d.edits, openai.Edit{Span: at, With: with})
}

func (d *draft) insert(at int, with []byte) { d.put(openai.Span{From: at, To: at}, with) }

// root collects what becomes of the request's own members; one removal may
// stand for all of them only.
type root struct {
	*draft
	drop []string
}

func (r *root) set(name string, value []byte) { r.edits = append(r.edits, r.q.Set(name, value)) }

func (r *root) has(name string) bool {
	_, ok := r.q.Field(name)
	return ok
}

// string is the value of a member where it is a string, else "".
func (r *root) string(name string) string {
	at, ok := r.q.Field(name)
	if !ok {
		return ""
	}
	text, _ := openai.Text(r.q.Body, at)
	return text
}
