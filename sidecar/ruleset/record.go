package ruleset

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Recording is a reply and what the rules made of it.
type Recording struct {
	Name    string        // of the test
	Profile string        // empty: the default one
	Reply   parse.Delta   // all of it
	Finish  string        // as the server ended it
	Tools   []tools.Tool  // offered; nil: not known
	Denied  []string      // ids of the rules of exec.yaml that deny a call
	Reading parse.Reading // with the calls that are denied
}

// AppendTest writes the test that holds a reading as it is now to the end of a
// test file; an empty file gets its head.
func AppendTest(file string, r Recording) (string, error) {
	item, err := rulefile.Item(r.test())
	if err != nil {
		return "", fmt.Errorf("write test %s: %w", r.Name, err)
	}
	if strings.TrimSpace(file) == "" {
		return "# yaml-language-server: $schema=../schemas/tests.schema.json\nversion: 1\n\ntests:\n" + item, nil
	}
	return strings.TrimRight(file, "\n") + "\n\n" + item, nil
}

// test is the recording as an item of a test file.
func (r *Recording) test() (test rulefile.Entries) {
	test.Add("name", r.Name)
	if r.Profile != "" && r.Profile != DefaultProfile {
		test.Add("profile", r.Profile)
	}
	test.Add("reply", r.reply())
	addTools(&test, r.Tools)
	addReading(&test, &r.Reading)
	if len(r.Denied) > 0 {
		test.Add("denied", r.Denied)
	}
	return test
}

func (r *Recording) reply() (reply rulefile.Entries) {
	if r.Reply.Content != "" {
		reply.Add("content", r.Reply.Content)
	}
	if r.Reply.Reasoning != "" {
		reply.Add("reasoning", r.Reply.Reasoning)
	}
	calls := whole(r.Reply.Calls)
	var list []rulefile.Entries
	for _, c := range calls {
		var call rulefile.Entries
		call.Add("name", c.Name)
		call.Add("arguments", c.Arguments)
		list = append(list, call)
	}
	if len(list) > 0 {
		reply.Add("calls", list)
	}
	if r.Finish != "" && r.Finish != (&replyRule{Calls: calls}).finish() {
		reply.Add("finish", r.Finish)
	}
	return reply
}

// whole puts the pieces of calls together.
func whole(pieces []parse.CallDelta) (out []exampleCall) {
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

func addTools(test *rulefile.Entries, offered []tools.Tool) {
	if offered == nil {
		return
	}
	names := []string{}
	var schemas rulefile.Entries
	for _, t := range offered {
		names = append(names, t.Name)
		if len(t.Parameters) > 0 {
			schemas.Add(t.Name, json.RawMessage(t.Parameters))
		}
	}
	test.Add("tools", names)
	if len(schemas) > 0 {
		test.Add("parameters", schemas)
	}
}

func addReading(test *rulefile.Entries, r *parse.Reading) {
	var gives []rulefile.Entries
	by := ""
	for i := range r.Calls {
		c := &r.Calls[i]
		var call rulefile.Entries
		call.Add("tool", c.Name)
		call.Add("args", json.RawMessage(c.Arguments))
		gives = append(gives, call)
		if i > 0 && c.Strategy != by {
			by = ""
		} else {
			by = c.Strategy
		}
	}
	test.Add("gives", gives)
	if by != "" {
		test.Add("by", by)
	}
	test.Add("shows", r.Content)
	test.Add("thinks", r.Reasoning)
	if codes := codesOf(r.Refused); len(codes) > 0 {
		test.Add("refused", codes)
	}
	if r.Done {
		test.Add("done", true)
	}
}
