package parse_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// reply is a row of testdata/reading/replies.jsonl: a reply, and what it means.
type reply struct {
	Why            string // what is damaged or quoted
	Text           string
	Server         []struct{ Name, Arguments string } // calls that the server read
	Finish         string
	Calls          []wantCall
	Shown, Thought string
	Miss           string // why it is read in another way still
	Asked          bool   // the model is asked again, and reads why
}

// The project's own labelled replies are read as they were meant, but for the misses that are known.
func TestLabelledReplies(t *testing.T) {
	folder := filepath.Join(testkit.Root(), "testdata", "reading")
	doc, err := os.ReadFile(filepath.Join(folder, "tools.json"))
	ruletest.Must(t, err)
	var offered []json.RawMessage
	ruletest.Must(t, json.Unmarshal(doc, &offered))
	doc, err = os.ReadFile(filepath.Join(folder, "replies.jsonl"))
	ruletest.Must(t, err)
	s, catalog := shipped.Strategies(""), catalogOf(offered, true)
	lines := bufio.NewScanner(bytes.NewReader(doc))
	for lines.Scan() {
		var row reply
		ruletest.Must(t, json.Unmarshal(lines.Bytes(), &row))
		r := s.Reader(catalog, facts())
		r.Feed(parse.Delta{Content: row.Text})
		for i, c := range row.Server {
			r.Feed(parse.Delta{Calls: []parse.CallDelta{{Index: i, Name: c.Name, Arguments: []byte(c.Arguments)}}})
		}
		got, _ := r.Close(cmp.Or(row.Finish, "stop"))
		right := sameCalls(got.Calls, row.Calls, nil) && strings.TrimSpace(got.Content) == row.Shown &&
			squeeze(got.Reasoning) == squeeze(row.Thought) && (!row.Asked || len(got.Refused) > 0)
		if right != (row.Miss == "") {
			t.Errorf("%s: %q\n  calls %s shows %q thinks %q refuses %v", row.Why, row.Text, showCalls(got.Calls),
				got.Content, got.Reasoning, got.Refused)
		}
	}
	ruletest.Must(t, lines.Err())
}
