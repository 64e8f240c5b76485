package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Expect is what a reply should become:
//
//	{"calls": [{"name": "read", "arguments": {"path": "a"}}], "content": "Done."}
//
// What is left out is not judged. Calls are exact and in order, and an empty list means
// none; a call without arguments fits any. White space of texts does not count.
type Expect struct {
	Calls     []ExpectCall `json:"calls"`
	Content   *string      `json:"content"`
	Reasoning *string      `json:"reasoning"`
}

// ExpectCall is a call that should be made.
type ExpectCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // absent: any
}

// Expected decodes what a record expects; nil where that says nothing that can be judged.
func (rec *Record) Expected() (*Expect, error) {
	if len(rec.Expect) == 0 || string(rec.Expect) == "null" {
		return nil, nil
	}
	var e Expect
	if err := json.Unmarshal(rec.Expect, &e); err != nil {
		return nil, fmt.Errorf("expect: %w", jsontext.Error(err))
	}
	if e.Content == nil && hasNull(rec.Expect, "content") {
		e.Content = new(string)
	}
	if e.Calls == nil && e.Content == nil && e.Reasoning == nil {
		return nil, nil
	}
	return &e, nil
}

// hasNull reports whether a key is there and null, which a pointer cannot tell.
func hasNull(doc json.RawMessage, key string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(doc, &members) == nil && string(members[key]) == "null"
}

// Call says whether a call is among those that are expected. Without arguments it is judged
// by its name.
func (e *Expect) Call(name string, args json.RawMessage) bool {
	return slices.ContainsFunc(e.Calls, func(want ExpectCall) bool {
		return want.Name == name && (args == nil || want.Arguments == nil ||
			tools.SameJSON(want.Arguments, args))
	})
}

// fits reports whether a reading is what was expected.
func (e *Expect) fits(m *Made) bool {
	return sameText(e.Content, m.Content) && sameText(e.Reasoning, m.Reasoning) &&
		(e.Calls == nil || sameCalls(e.Calls, m.Calls))
}

// Fits reports whether a call is the one that is expected.
func (c ExpectCall) Fits(got MadeCall) bool {
	return c.Name == got.Name && (c.Arguments == nil || tools.SameJSON(c.Arguments, got.Arguments))
}

// sameCalls reports whether calls are those that are expected, in order.
func sameCalls(want []ExpectCall, got []MadeCall) bool {
	return slices.EqualFunc(want, got, ExpectCall.Fits)
}

// SameText reports whether two texts are the same but for white space.
func SameText(a, b string) bool { return squeezed(a) == squeezed(b) }

func sameText(want *string, got string) bool { return want == nil || SameText(*want, got) }

func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
