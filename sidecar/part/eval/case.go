// Package eval reads labelled or recorded replies with several variants of the rules, by the code that
// serves, and determines which variant reads them better, and with what confidence. It asks a model server
// only where it is told to (Live), and never runs a call.
package eval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Case is a reply and its expected reading, if known.
type Case struct {
	ID        string
	Category  string
	Place     string // file:line
	Record    *replay.Record
	Want      *Want             // nil: unknown
	NotJudged []string          // keys of the label that are ignored
	messages  []json.RawMessage // for Live
}

// Parse parses a case: a record as explain --jsonl takes it, with "expect". place names it in errors.
func Parse(line []byte, place string) (Case, error) {
	c, err := labelled(line, place)
	if err != nil {
		return Case{}, err
	}
	if c.Record, err = replay.ParseRecord(line); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, err)
	}
	return c, nil
}

// labelled parses a case without its reply.
func labelled(line []byte, place string) (Case, error) {
	var more struct {
		ID       json.RawMessage `json:"id"`
		Category string          `json:"category"`
		Expect   json.RawMessage `json:"expect"`
	}
	if err := json.Unmarshal(line, &more); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, jsontext.Error(err))
	}
	c := Case{ID: strings.Trim(string(more.ID), `"`), Category: more.Category, Place: place}
	if c.ID == "" {
		c.ID = place
	}
	var err error
	if c.Want, c.NotJudged, err = label(more.Expect); err != nil {
		return Case{}, fmt.Errorf("%s: expect: %w", place, err)
	}
	return c, nil
}

// Made is the reading of a case by a variant, and how correct it is.
type Made struct {
	replay.Made
	CallsOK      bool `json:"calls_ok"`
	False        int  `json:"false_calls"` // unexpected calls
	Leak         bool `json:"leak"`
	ContentOK    bool `json:"content_ok"`
	ReasoningOK  bool `json:"reasoning_ok"`
	UnresolvedOK bool `json:"unresolved_ok"` // calls of tools that were not offered are refused
	Right        bool `json:"right"`         // everything in the label is true
}

// judge compares a reading with the label.
func (w *Want) judge(m replay.Made) Made {
	out := Made{Made: m}
	if w == nil {
		return out
	}
	accepted, named := false, w.names(m.Content)
	for _, a := range w.Accept {
		text := a.Content != nil && sameText(*a.Content, m.Content)
		fits := sameCalls(a.Calls, nil, m.Calls) && (a.Content == nil || text)
		accepted, named = accepted || fits, named || fits && text
	}
	out.CallsOK = accepted || w.Calls == nil && len(w.Accept) == 0 || w.Calls != nil &&
		sameCalls(*w.Calls, w.Optional, m.Calls)
	if w.Calls != nil && !out.CallsOK {
		for _, c := range m.Calls {
			if !among(*w.Calls, c) && !among(w.Optional, c) {
				out.False++
			}
		}
	}
	out.ContentOK = accepted && !w.whole || named || !w.saysText && len(w.ContentAny) == 0
	out.ReasoningOK = w.Reasoning == nil || sameText(*w.Reasoning, m.Reasoning)
	out.UnresolvedOK = accepted ||
		!slices.ContainsFunc(w.Unresolved, func(c wantCall) bool { return !refuses(m.Refused, c.Name) })
	// a label may expect a text that quotes markup
	out.Leak = w.LeakFree && !named && markup.MatchString(m.Content)
	out.Right = out.CallsOK && !out.Leak && out.ReasoningOK && out.UnresolvedOK &&
		(w.Calls != nil && !w.whole || out.ContentOK)
	return out
}

// refuses reports whether a call of this name was refused. refused holds CODE: NAME: WHY.
func refuses(refused []string, name string) bool {
	return slices.ContainsFunc(refused, func(refusal string) bool {
		_, rest, _ := strings.Cut(refusal, ": ")
		return strings.HasPrefix(rest, name+": ")
	})
}

// markup matches what no user should see.
var markup = regexp.MustCompile(`<\|[a-z_]+\|>|assistant(?:commentary|analysis|final)|to=functions\.|</?tool_call>|\[TOOL_CALLS?\]`)

// names reports whether the label expects exactly this text.
func (w *Want) names(content string) bool {
	texts := slices.Clip(w.ContentAny)
	if w.saysText {
		texts = append(texts, w.Content)
	}
	return slices.ContainsFunc(texts, func(want *string) bool {
		return want == nil && sameText("", content) || want != nil && sameText(*want, content)
	})
}
