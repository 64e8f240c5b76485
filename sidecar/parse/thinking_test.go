package parse

import (
	"strings"
	"testing"
)

// Thoughts at the start of a content leave as thoughts, however the prompt or a cut has damaged their marks,
// and however the content comes.
func TestThinking(t *testing.T) {
	marks := &Strategy{Open: []string{"<think>"}, Close: []string{"</think>"}}
	opened := &Strategy{Open: marks.Open, Close: marks.Close, Opened: true}
	for name, c := range map[string]struct {
		st            *Strategy
		text          string
		cut           bool
		thought, rest string
	}{
		"between marks":                {marks, "\n<think>a</think>\n\nb", false, "a", "b"},
		"none":                         {marks, "b <think>a</think>", false, "", "b <think>a</think>"},
		"the end alone":                {opened, "a</think>b", false, "a", "b"},
		"the end alone, not expected":  {marks, "a</think>b", false, "", "a</think>b"},
		"an answer":                    {opened, "b", false, "", "b"},
		"cut":                          {opened, "a", true, "a", ""},
		"cut behind the mark":          {marks, "<think>a", true, "a", ""},
		"cut in the mark that ends it": {marks, "<think>a</thi", true, "a</thi", ""},
		"a call within":                {marks, "<think>a<call>x</call>", false, "a", "<call>x</call>"},
		"a call that is thought of": {marks, "<think>a<call> is a mark</think>b", false,
			"a<call> is a mark", "b"},
		"a call behind an unmarked text": {opened, "a<call>x</call>", true, "", "a<call>x</call>"},
		"nothing":                        {opened, "", false, "", ""},
		"blanks":                         {opened, " \n", true, "", " \n"},
		"one behind the other":           {opened, "a</think>\n<think>b</think>c", false, "ab", "c"},
		"a thought behind the answer":    {opened, "a<think></think>", false, "", "a<think></think>"},
		"a mark behind the answer":       {marks, "<think>a</think>b<think>c", false, "a", "b<think>c"},
	} {
		for n := 1; n <= len(c.text)+1; n++ {
			r := &thinking{st: c.st, calls: []string{"<call>"}}
			var thought, rest strings.Builder
			think := func(s string) { thought.WriteString(s) }
			for i := 0; i < len(c.text); i += n {
				rest.WriteString(r.feed(c.text[i:min(len(c.text), i+n)], false, c.cut, think))
			}
			rest.WriteString(r.feed("", true, c.cut, think))
			if thought.String() != c.thought || rest.String() != c.rest {
				t.Errorf("%s, in pieces of %d: %q and %q", name, n, thought.String(), rest.String())
			}
		}
	}
}

// What is held leaves when nobody can wait: as a thought where the prompt is known to begin it.
func TestThinkingReleased(t *testing.T) {
	for opened, want := range map[bool]string{true: "thought: a b, text: c",
		false: "thought: , text: a b</think>c"} {
		r := &thinking{st: &Strategy{Close: []string{"</think>"}, Opened: true}}
		var thought string
		think := func(s string) { thought += s }
		rest := r.feed("a ", false, false, think) + r.releaseHeld(opened, think) + r.feed("b</think>c", true,
			false, think)
		if got := "thought: " + thought + ", text: " + rest; got != want {
			t.Errorf("%v: %s", opened, got)
		}
	}
}
