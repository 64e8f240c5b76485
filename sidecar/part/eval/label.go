package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Want is the expected reading of a reply. Calls are exact and in order; nil: they are not judged.
type Want struct {
	Calls      *[]wantCall  `json:"calls"`
	Optional   []wantCall   `json:"-"` // calls that are allowed too
	Content    *string      `json:"content"`
	ContentAny []*string    `json:"content_any"` // any of these; nil is no text
	Reasoning  *string      `json:"reasoning"`
	Unresolved []wantCall   `json:"unresolved"` // calls of tools that were not offered, and must be refused
	LeakFree   bool         `json:"leak_free"`  // without markup
	Accept     []acceptable `json:"accept"`     // other correct readings
	saysText   bool         // it says something about the content
	whole      bool         // the text must match beside calls too
}

type acceptable struct {
	Calls   []wantCall `json:"calls"`
	Content *string    `json:"content"`
}

// wantCall is an expected call. At most one field describes its arguments; none: they are not judged.
type wantCall struct {
	Name      string                     `json:"name"`
	Arguments json.RawMessage            `json:"arguments"`
	Text      *string                    `json:"input_text"`       // the only argument
	Raw       *string                    `json:"arguments_text"`   // same as Text
	Subset    map[string]json.RawMessage `json:"arguments_subset"` // these must exist; others may be added
}

// listed is a label in the form of parser tests: texts are lists of pieces.
type listed struct {
	Calls        *[]wantCall `json:"tool_calls"`
	Optional     []wantCall  `json:"optional_tool_calls"`
	Alternatives []wantCall  `json:"alternatives"` // other arguments of the only call
	Content      *[]string   `json:"content"`
	ContentAny   [][]string  `json:"content_alternatives"`
	Reasoning    *[]string   `json:"reasoning"`
	LeakFree     bool        `json:"no_marker_leak"`
}

// Keys of labels in both forms.
var (
	plainKeys  = []string{"accept", "calls", "content", "content_any", "leak_free", "reasoning", "unresolved"}
	listedKeys = []string{"alternatives", "content", "content_alternatives", "no_marker_leak",
		"optional_tool_calls", "reasoning", "tool_calls"}
)

// label parses the label of a case; nil if it says nothing to judge by. Unknown keys are reported, because
// such a label would accept every reading.
func label(doc json.RawMessage) (want *Want, notJudged []string, err error) {
	if len(doc) == 0 || string(doc) == "null" {
		return nil, nil, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(doc, &keys); err != nil {
		return nil, nil, jsontext.Error(err)
	}
	w, known := &Want{}, plainKeys
	if keys["tool_calls"] != nil || isList(keys["content"]) || isList(keys["reasoning"]) {
		known = listedKeys
		var l listed
		if err = json.Unmarshal(doc, &l); err == nil {
			w, err = l.want()
		}
	} else {
		err = json.Unmarshal(doc, w)
		_, w.saysText = keys["content"]
	}
	if err != nil {
		return nil, nil, jsontext.Error(err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(known, key) {
			notJudged = append(notJudged, key)
		}
	}
	if !w.says() {
		return nil, notJudged, nil
	}
	return w, notJudged, w.check()
}

func isList(v json.RawMessage) bool { return len(v) > 0 && v[0] == '[' }

// want converts the label to the usual form.
func (l *listed) want() (*Want, error) {
	w := &Want{Calls: l.Calls, Optional: l.Optional, LeakFree: l.LeakFree, saysText: l.Content != nil,
		whole: true}
	joined := func(list *[]string) *string {
		if list == nil {
			return nil
		}
		text := strings.Join(*list, "")
		return &text
	}
	w.Content, w.Reasoning = joined(l.Content), joined(l.Reasoning)
	for _, list := range l.ContentAny {
		w.ContentAny = append(w.ContentAny, joined(&list))
	}
	if len(l.Alternatives) > 0 && (l.Calls == nil || len(*l.Calls) != 1) {
		return nil, errors.New("alternatives are other arguments of one call, and tool_calls does not have one")
	}
	for _, other := range l.Alternatives {
		other.Name = (*l.Calls)[0].Name
		w.Accept = append(w.Accept, acceptable{Calls: []wantCall{other}})
	}
	return w, nil
}

// says reports whether there is anything to judge by.
func (w *Want) says() bool {
	return w.Calls != nil || w.saysText || len(w.ContentAny) > 0 || w.Reasoning != nil ||
		len(w.Unresolved) > 0 || len(w.Accept) > 0 || w.LeakFree
}

// check returns an error for a call without a name, which no call would match.
func (w *Want) check() error {
	lists := [][]wantCall{w.Optional, w.Unresolved}
	if w.Calls != nil {
		lists = append(lists, *w.Calls)
	}
	for _, a := range w.Accept {
		lists = append(lists, a.Calls)
	}
	for _, c := range slices.Concat(lists...) {
		if c.Name == "" {
			return errors.New(`a call has no name; write {"name": "read", "arguments": {…}}`)
		}
	}
	return nil
}

// fits reports whether a call matches.
func (c wantCall) fits(got replay.MadeCall) bool {
	text := c.Text
	if text == nil {
		text = c.Raw
	}
	if text == nil && c.Subset == nil {
		return c.Name == got.Name && (c.Arguments == nil || tools.SameJSON(c.Arguments, got.Arguments))
	}
	var args map[string]json.RawMessage
	if c.Name != got.Name || json.Unmarshal(got.Arguments, &args) != nil {
		return false
	}
	for key := range c.Subset {
		if _, there := args[key]; !there {
			return false
		}
	}
	if text == nil {
		return true
	}
	for _, v := range args {
		var argument any
		return len(args) == 1 && json.Unmarshal(v, &argument) == nil &&
			strings.TrimSpace(fmt.Sprint(argument)) == strings.TrimSpace(*text)
	}
	return false
}

// sameCalls reports whether calls match the expected ones in order. Optional ones may be anywhere among
// them.
func sameCalls(want, optional []wantCall, got []replay.MadeCall) bool {
	for _, g := range got {
		switch {
		case len(want) > 0 && want[0].fits(g):
			want = want[1:]
		case !among(optional, g):
			return false
		}
	}
	return len(want) == 0
}

func among(list []wantCall, got replay.MadeCall) bool {
	return slices.ContainsFunc(list, func(c wantCall) bool { return c.fits(got) })
}

// same reports whether two readings are equal, apart from thoughts, which always differ.
func same(a, b *Made) bool {
	return sameText(a.Content, b.Content) && slices.EqualFunc(a.Calls, b.Calls,
		func(a, b replay.MadeCall) bool {
			return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments)
		})
}

// sameText compares two texts without white space.
func sameText(a, b string) bool {
	return strings.Join(strings.Fields(a), "") == strings.Join(strings.Fields(b), "")
}
