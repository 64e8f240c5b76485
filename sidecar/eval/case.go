// Package eval reads labelled or recorded replies with several variants of the rules, by the
// very code that serves, and says which variant reads them better, and how sure that is. It
// asks a model server only where it is told to (Live), and never runs a call.
package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Case is a reply, and what it should become, as far as somebody knows.
type Case struct {
	ID       string
	Category string
	Place    string // file:line
	Record   *replay.Record
	Want     *Want             // nil: nobody knows
	messages []json.RawMessage // what is asked, for Live
}

// Want is what a reply should become. Calls are exact and in order; nil: they are not judged.
type Want struct {
	Calls      *[]replay.ExpectCall `json:"calls"`
	Content    *string              `json:"content"`
	ContentAny []*string            `json:"content_any"` // any of these will do; nil is no text
	LeakFree   bool                 `json:"leak_free"`   // no markup may be seen
	Accept     []struct {
		Calls   []replay.ExpectCall `json:"calls"`
		Content *string             `json:"content"`
	} `json:"accept"` // readings that will do, too
	saysContent bool
}

// Parse reads a case: a record as explain --jsonl takes it, with "expect". Source names it in
// errors.
func Parse(line []byte, place string) (Case, error) {
	c, err := labelled(line, place)
	if err != nil {
		return Case{}, err
	}
	if c.Record, err = replay.Of(line); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, err)
	}
	return c, nil
}

// labelled reads all of a case but its reply.
func labelled(line []byte, place string) (Case, error) {
	var more struct {
		ID       json.RawMessage `json:"id"`
		Category string          `json:"category"`
		Expect   json.RawMessage `json:"expect"`
		Reading  json.RawMessage `json:"reading"`
	}
	if err := json.Unmarshal(line, &more); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, plainjson.Error(err))
	}
	c := Case{ID: strings.Trim(string(more.ID), `"`), Category: more.Category, Place: place}
	if c.ID == "" {
		c.ID = place
	}
	if len(more.Expect) == 0 || string(more.Expect) == "null" {
		return c, nil
	}
	c.Want = new(Want)
	if err := json.Unmarshal(more.Expect, c.Want); err != nil {
		return Case{}, fmt.Errorf("%s: expect: %w", place, plainjson.Error(err))
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(more.Expect, &keys)
	_, c.Want.saysContent = keys["content"]
	if !c.Want.says() {
		c.Want = nil
	}
	return c, nil
}

// says reports whether there is anything to judge by. A label in other words would call
// every reading right.
func (w *Want) says() bool {
	return w.Calls != nil || w.saysContent || len(w.ContentAny) > 0 || len(w.Accept) > 0 || w.LeakFree
}

// Made is what a variant made of a case, and how right that is.
type Made struct {
	replay.Made
	CallsOK   bool `json:"calls_ok"`
	False     int  `json:"false_calls"` // calls that nobody wanted
	Leak      bool `json:"leak"`
	ContentOK bool `json:"content_ok"`
	Right     bool `json:"right"` // calls as wanted, or the text where no calls are; and no leak
}

// judge compares what was made with what was wanted.
func (w *Want) judge(m replay.Made) Made {
	out := Made{Made: m}
	if w == nil {
		return out
	}
	accepted, named := false, w.names(m.Content)
	for _, a := range w.Accept {
		text := a.Content != nil && replay.SameText(*a.Content, m.Content)
		fits := replay.SameCalls(a.Calls, m.Calls) && (a.Content == nil || text)
		accepted, named = accepted || fits, named || fits && text
	}
	out.CallsOK = accepted || w.Calls == nil && len(w.Accept) == 0 || w.Calls != nil && replay.SameCalls(*w.Calls, m.Calls)
	if w.Calls != nil && !out.CallsOK {
		for _, c := range m.Calls {
			if !wanted(*w.Calls, c) {
				out.False++
			}
		}
	}
	out.ContentOK = accepted || named || !w.saysContent && len(w.ContentAny) == 0
	out.Leak = w.LeakFree && !named && markup().MatchString(m.Content) // a label may name a text that quotes markup
	out.Right = out.CallsOK && !out.Leak && (w.Calls != nil || out.ContentOK)
	return out
}

// markup is what no user should see.
var markup = lazyregexp.New(`<\|[a-z_]+\|>|assistant(?:commentary|analysis|final)|to=functions\.|</?tool_call>|\[TOOL_CALLS?\]`)

// names reports whether the label says this very text.
func (w *Want) names(content string) bool {
	texts := w.ContentAny
	if w.saysContent {
		texts = append(texts, w.Content)
	}
	for _, want := range texts {
		text := ""
		if want != nil {
			text = *want
		}
		if replay.SameText(text, content) {
			return true
		}
	}
	return false
}

func wanted(list []replay.ExpectCall, got replay.MadeCall) bool {
	return slices.ContainsFunc(list, func(want replay.ExpectCall) bool { return want.Fits(got) })
}

// same says that two readings are the same to a caller.
func same(a, b *Made) bool {
	return replay.SameText(a.Content, b.Content) && slices.EqualFunc(a.Calls, b.Calls, func(a, b replay.MadeCall) bool {
		return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments)
	})
}
