package sidecar

import (
	"bytes"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// edit is the memory in which one event is edited. Streams wait most of their time, so they have none of
// their own.
type edit struct {
	edits  []openai.Edit
	edited []byte
}

var edits = sync.Pool{New: func() any { return new(edit) }}

// taken lets go of the piece.
func (o *streamSink) taken() {
	if cap(o.edit.edited) <= maxPooled {
		clear(o.edit.edits)
		edits.Put(o.edit)
	}
	o.doc, o.edit = nil, nil
}

// ours is the event that is being taken with these edits, and with the names of this stream. It is
// valid until the next one, or the end of Take.
func (o *streamSink) ours(raw []byte, edits []openai.Edit) []byte {
	c, e := o.doc, o.edit
	e.edits = o.names(c, append(e.edits[:0], edits...))
	if len(e.edits) == 0 {
		return raw
	}
	e.edited = openai.AppendEdited(append(e.edited[:0], "data: "...), c.Doc, e.edits)
	e.edited = append(e.edited, '\n', '\n')
	return e.edited
}

// names appends the edits that give a chunk the id of this stream, since clients take chunks of
// another id for another reply, and the model that was asked for: OpenClaw tells its user of any other.
func (o *streamSink) names(c *openai.Completion, edits []openai.Edit) []openai.Edit {
	if c.ID.Present() && !bytes.Equal(c.ID.Of(c.Doc), o.id) {
		edits = append(edits, openai.Edit{Span: c.ID, With: o.id})
	}
	if c.Model.Present() && !bytes.Equal(c.Model.Of(c.Doc), o.model) {
		edits = append(edits, openai.Edit{Span: c.Model, With: o.model})
	}
	return edits
}
