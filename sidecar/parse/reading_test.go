package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What changes something rests on what was not made in front of it; what reads rests on nothing, and
// nothing rests on what would only have read, or on what the policy denies.
func TestRests(t *testing.T) {
	rules := &tools.Rules{MaxDepth: 64, Classes: tools.NewClasses(
		tools.ClassRule{Class: tools.Read, Words: []string{"read"}},
		tools.ClassRule{Class: tools.Exec, Words: []string{"exec"}})}
	c := tools.NewCatalog(rules, nil, []tools.Tool{{Name: "read"}, {Name: "exec"}})
	call := tools.Call{Name: "exec", Arguments: []byte(`{"a":1}`)}
	for _, row := range []struct {
		f    tools.Refusal
		made bool
		want bool
	}{
		{tools.Refusal{Code: tools.NotOffered, Name: "backup", Text: "{}"}, false, true},
		{tools.Refusal{Code: tools.BadJSON, Name: "exec", Text: "{"}, false, true},
		{tools.Refusal{Code: tools.BadJSON, Name: "read", Text: "{"}, false, false},
		{tools.Refusal{Code: tools.Truncated, Name: "read", Text: "{"}, false, true},
		{tools.Refusal{Code: tools.Denied, Name: "exec", Text: "{}"}, false, false},
		{tools.Refusal{Code: tools.Truncated, Name: "functions.exec"}, false, false},
		{tools.Refusal{Code: tools.Unsure, Name: "exec", Text: `{"a": 1}`}, false, false},
		{tools.Refusal{Code: tools.Behind, Name: "exec", Text: `{"a": 1}`}, false, false},
		{tools.Refusal{Code: tools.Unsure, Name: "exec", Text: `{"a":2}`}, false, true},
		{tools.Refusal{Code: tools.Unsure, Name: "exec", Text: `{"a":2}`}, true, false},
	} {
		r := parse.Reading{Refused: []tools.Refusal{row.f}}
		if row.made {
			r.Calls = []tools.Call{{Name: "exec", Arguments: []byte(`{"a":2}`)}}
		}
		if got := r.Rests(call, c, false); got != row.want {
			t.Errorf("behind %v, made %v: %v", row.f, row.made, got)
		}
		if r.Rests(tools.Call{Name: "read"}, c, true) || !r.Rests(call, c, true) {
			t.Error("in a reply that is not whole, only what reads is made")
		}
	}
}
