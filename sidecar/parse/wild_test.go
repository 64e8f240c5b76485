package parse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

type wild struct {
	ID      string
	Message *struct {
		Content   *string `json:"content"`
		Reasoning *string `json:"reasoning_content"`
		Calls     []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Chunks []struct {
		Choices []struct {
			Delta struct {
				Content   string
				Reasoning string `json:"reasoning"`
				Thinking  string `json:"reasoning_content"`
				Calls     []struct {
					Index    int
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	Tools  []json.RawMessage `json:"tools"`
	Finish string            `json:"finish_reason"`
	Expect struct {
		Calls      []wantCall
		Content    *string
		ContentAny []*string `json:"content_any"`
		Accept     []struct {
			Calls   []wantCall
			Content *string
		}
	}
}

func (w wild) deltas() (out []parse.Delta) {
	if w.Message != nil {
		var d parse.Delta
		if w.Message.Content != nil {
			d.Content = *w.Message.Content
		}
		if w.Message.Reasoning != nil {
			d.Reasoning = *w.Message.Reasoning
		}
		for i, c := range w.Message.Calls {
			d.Calls = append(d.Calls, parse.CallDelta{Index: i, Name: c.Function.Name,
				Arguments: []byte(c.Function.Arguments)})
		}
		return []parse.Delta{d}
	}
	for _, c := range w.Chunks {
		for _, ch := range c.Choices {
			d := parse.Delta{Content: ch.Delta.Content, Reasoning: ch.Delta.Reasoning + ch.Delta.Thinking}
			for _, tc := range ch.Delta.Calls {
				d.Calls = append(d.Calls, parse.CallDelta{Index: tc.Index, ID: tc.ID, Name: tc.Function.Name,
					Arguments: []byte(tc.Function.Arguments)})
			}
			out = append(out, d)
		}
	}
	return out
}

func (w wild) contentOK(got string) bool {
	same := func(want *string) bool {
		if want == nil {
			return strings.TrimSpace(got) == ""
		}
		return strings.TrimSpace(got) == strings.TrimSpace(*want)
	}
	if w.Expect.ContentAny != nil {
		for _, c := range w.Expect.ContentAny {
			if same(c) {
				return true
			}
		}
		return false
	}
	if same(w.Expect.Content) {
		return true
	}
	for _, a := range w.Expect.Accept {
		if same(a.Content) {
			return true
		}
	}
	return false
}

// judge says whether the calls and the text of a reading are right.
func (w wild) judge(got parse.Reading) (calls, content bool) {
	calls = sameCalls(got.Calls, w.Expect.Calls, nil)
	for _, a := range w.Expect.Accept {
		calls = calls || sameCalls(got.Calls, a.Calls, nil)
	}
	return calls, w.contentOK(got.Content)
}

func (w wild) read(s *parse.Strategies) parse.Reading {
	r := s.Reader(catalogOf(w.Tools, w.Tools != nil), facts())
	for _, d := range w.deltas() {
		r.Feed(d)
	}
	got, _ := r.Close(w.Finish)
	return got
}

func TestCorpusGptOss(t *testing.T) {
	s := shipped.Strategies("")
	cases := testkit.Corpus[wild](t, "gptoss")
	exact, content, false_ := 0, 0, 0
	for _, w := range cases {
		got := w.read(s)
		callsOK, contentOK := w.judge(got)
		if callsOK {
			exact++
		} else if len(w.Expect.Calls) == 0 && len(got.Calls) > 0 {
			false_++
		}
		if contentOK {
			content++
		}
		if !callsOK || !contentOK {
			t.Logf("%s: calls ok %v, content ok %v: %s content %q refused %v", w.ID, callsOK, contentOK,
				showCalls(got.Calls), got.Content, got.Refused)
		}
	}
	t.Logf("gptoss: calls %d/%d exact, %d false, content %d/%d", exact, len(cases), false_, content,
		len(cases))
	if float64(exact) < 0.98*float64(len(cases)) || false_ > 0 ||
		float64(content) < 0.97*float64(len(cases)) {
		t.Errorf("below the bar: calls 98 %%, no false call, content 97 %%")
	}
}
