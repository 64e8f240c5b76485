package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Expect is what a reply should become:
//
//	{"calls": [{"name": "read", "arguments": {"path": "a"}}], "content": "Done."}
//
// What is left out is not judged. Calls are exact and in order, and an empty list
// means none; a call without arguments fits any. Content is compared without white
// space; null or "" means none. The other keys are those of labelled corpora:
// ToolCalls is another name for Calls; Content may be a list of pieces, and
// ContentAny and ContentAlternatives hold what is as good; Optional calls may come
// between the others; Accept holds whole readings that are as good.
type Expect struct {
	Calls               []ExpectCall   `json:"calls"`
	ToolCalls           []ExpectCall   `json:"tool_calls"`
	Optional            []ExpectCall   `json:"optional_tool_calls"`
	Content             *ExpectText    `json:"content"`
	ContentAny          []ExpectText   `json:"content_any"`
	ContentAlternatives []ExpectText   `json:"content_alternatives"`
	Reasoning           *ExpectText    `json:"reasoning"`
	Accept              []ExpectAccept `json:"accept"`
}

// ExpectAccept is a reading that is tolerated. Without calls, those of the whole
// expectation count.
type ExpectAccept struct {
	Calls   []ExpectCall `json:"calls"`
	Content *ExpectText  `json:"content"`
}

// ExpectCall is a call that should be made: with exactly these arguments, with
// these among others, or with one argument of this text.
type ExpectCall struct {
	Name      string                     `json:"name"`
	Arguments json.RawMessage            `json:"arguments"`
	Subset    map[string]json.RawMessage `json:"arguments_subset"`
	Text      *string                    `json:"input_text"`
	RawText   *string                    `json:"arguments_text"`
}

// ExpectText is a text, or a list of its pieces, without its white space.
type ExpectText string

// UnmarshalJSON takes a text or a list of texts.
func (t *ExpectText) UnmarshalJSON(doc []byte) error {
	var pieces []string
	if len(doc) == 0 || doc[0] != '[' {
		pieces = make([]string, 1)
		if err := json.Unmarshal(doc, &pieces[0]); err != nil {
			return errors.New("the expected text is neither a text nor a list of texts")
		}
	} else if err := json.Unmarshal(doc, &pieces); err != nil {
		return errors.New("the expected text is neither a text nor a list of texts")
	}
	*t = squeezed(strings.Join(pieces, ""))
	return nil
}

func squeezed(s string) ExpectText { return ExpectText(strings.Join(strings.Fields(s), "")) }

// expectation decodes what a record expects; nil where that says nothing that can
// be judged.
func (rec *Record) expectation() (*Expect, error) {
	if len(rec.Expect) == 0 || string(rec.Expect) == "null" {
		return nil, nil
	}
	var e Expect
	if err := json.Unmarshal(rec.Expect, &e); err != nil {
		return nil, fmt.Errorf("expect: %w", plainjson.Error(err))
	}
	if e.Calls == nil {
		e.Calls = e.ToolCalls
	}
	if e.Content == nil && hasNull(rec.Expect, "content") {
		e.Content = new(ExpectText)
	}
	if e.Calls == nil && e.Content == nil && e.ContentAny == nil && e.Reasoning == nil {
		return nil, nil
	}
	return &e, nil
}

// hasNull reports whether a key is there and null, which a pointer cannot tell.
func hasNull(doc json.RawMessage, key string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(doc, &members) == nil && string(members[key]) == "null"
}

// fits reports whether a reading is what was expected.
func (e *Expect) fits(m *Made) bool {
	if e.Reasoning != nil && *e.Reasoning != squeezed(m.Reasoning) {
		return false
	}
	if e.callsFit(e.Calls, m) && e.contentFits(m) {
		return true
	}
	return slices.ContainsFunc(e.Accept, func(a ExpectAccept) bool {
		calls := a.Calls
		if calls == nil {
			calls = e.Calls
		}
		return e.callsFit(calls, m) && (a.Content == nil || *a.Content == squeezed(m.Content))
	})
}

func (e *Expect) contentFits(m *Made) bool {
	got := squeezed(m.Content)
	return e.Content == nil && e.ContentAny == nil || e.Content != nil && got == *e.Content ||
		slices.Contains(e.ContentAny, got) || slices.Contains(e.ContentAlternatives, got)
}

// callsFit compares calls in order; optional ones may come between them.
func (e *Expect) callsFit(want []ExpectCall, m *Made) bool {
	if want == nil {
		return true
	}
	next := 0
	for _, got := range m.Calls {
		switch {
		case next < len(want) && want[next].fits(got):
			next++
		case !slices.ContainsFunc(e.Optional, func(o ExpectCall) bool { return o.fits(got) }):
			return false
		}
	}
	return next == len(want)
}

func (w *ExpectCall) fits(got MadeCall) bool {
	if got.Name != w.Name {
		return false
	}
	text := w.Text
	if text == nil {
		text = w.RawText
	}
	switch {
	case text != nil:
		args := members(got.Arguments)
		for _, v := range args {
			var s string
			if json.Unmarshal(v, &s) != nil {
				s = string(v)
			}
			return len(args) == 1 && squeezed(s) == squeezed(*text)
		}
		return false
	case w.Subset != nil:
		args := members(got.Arguments)
		for k, v := range w.Subset {
			if !tools.SameJSON(args[k], v) {
				return false
			}
		}
		return true
	}
	return w.Arguments == nil || tools.SameJSON(got.Arguments, w.Arguments)
}

func members(object json.RawMessage) (out map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &out) // what is no object has no members
	return out
}
