package ruleset

import (
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Recording is a reply and its reading by the rules.
type Recording struct {
	Name    string        // of the test
	Profile string        // empty: the default
	Reply   parse.Delta   // complete
	Finish  string        // by the server
	Tools   []tools.Tool  // offered; nil: unknown
	Denied  []string      // ids of rules of exec.yaml that deny a call
	Reading parse.Reading // including denied calls
}

// AppendTest appends a test for the current reading to a test file, with a head if the file is empty.
func AppendTest(file string, r Recording) (string, error) {
	item, err := rulefile.Item(r.test())
	if err != nil {
		return "", fmt.Errorf("write test %s: %w", r.Name, err)
	}
	if strings.TrimSpace(file) == "" {
		return "# yaml-language-server: $schema=../schemas/tests.schema.json\nversion: 1\n\ntests:\n" + item,
			nil
	}
	return strings.TrimRight(file, "\n") + "\n\n" + item, nil
}

// recordedTest is a replyTest in its written form.
type recordedTest struct {
	Name       string                      `json:"name"`
	Profile    string                      `json:"profile,omitempty"`
	Reply      recordedReply               `json:"reply"`
	Tools      []string                    `json:"tools,omitzero"`
	Parameters map[string]rulefile.RawJSON `json:"parameters,omitempty"`
	Gives      []recordedCall              `json:"gives"`
	By         string                      `json:"by,omitempty"`
	Shows      string                      `json:"shows"`
	Thinks     string                      `json:"thinks"`
	Refused    []string                    `json:"refused,omitempty"`
	Denied     []string                    `json:"denied,omitempty"`
	Done       bool                        `json:"done,omitempty"`
}

type recordedReply struct {
	Content   string        `json:"content,omitempty"`
	Reasoning string        `json:"reasoning,omitempty"`
	Calls     []exampleCall `json:"calls,omitempty"`
	Finish    string        `json:"finish,omitempty"`
}

type recordedCall struct {
	Tool string           `json:"tool"`
	Args rulefile.RawJSON `json:"args"`
}

// test returns the recording as an item of a test file.
func (r *Recording) test() recordedTest {
	t := recordedTest{
		Name: r.Name, Reply: r.reply(), Gives: []recordedCall{}, Denied: r.Denied,
		Shows: r.Reading.Content, Thinks: r.Reading.Reasoning, Refused: codesOf(r.Reading.Refused),
		Done: r.Reading.Done,
	}
	if r.Profile != DefaultProfile {
		t.Profile = r.Profile
	}
	if r.Tools != nil {
		t.Tools = mapSlice(r.Tools, func(t tools.Tool) string { return t.Name })
		t.Parameters = map[string]rulefile.RawJSON{}
	}
	for _, offered := range r.Tools {
		if len(offered.Parameters) > 0 {
			t.Parameters[offered.Name] = rulefile.RawJSON(offered.Parameters)
		}
	}
	by := map[string]bool{}
	for _, c := range r.Reading.Calls {
		t.Gives = append(t.Gives, recordedCall{c.Name, rulefile.RawJSON(c.Arguments)})
		t.By, by[c.Strategy] = c.Strategy, true
	}
	if len(by) > 1 {
		t.By = "" // a test names one strategy for all calls
	}
	return t
}

func (r *Recording) reply() recordedReply {
	reply := recordedReply{Content: r.Reply.Content, Reasoning: r.Reply.Reasoning,
		Calls: joinPieces(r.Reply.Calls)}
	if r.Finish != (&replyRule{Calls: reply.Calls}).finish() {
		reply.Finish = r.Finish
	}
	return reply
}

// joinPieces joins the pieces of calls.
func joinPieces(pieces []parse.CallDelta) (out []exampleCall) {
	at := map[int]int{}
	for _, p := range pieces {
		i, known := at[p.Index]
		if !known {
			i = len(out)
			at[p.Index] = i
			out = append(out, exampleCall{})
		}
		out[i].Name += p.Name
		out[i].Arguments += string(p.Arguments)
	}
	return out
}
