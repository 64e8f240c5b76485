package tools_test

import (
	"encoding/json"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestKey(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":"x"}`, ` {"b": "x", "a": 1} `, true},
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`, false},
		{`{"id":1.0}`, `{"id":1.00}`, false},
		{`{"a":"\ud800"}`, `{"a":"\ud801"}`, false},
		{`{"a":"x"`, `{"a":"x"}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
	} {
		a, b := tools.Call{Name: "write", Arguments: json.RawMessage(c.a)}, tools.Call{Name: "write",
			Arguments: json.RawMessage(c.b)}
		if same := a.Key() == b.Key(); same != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, same)
		}
		if b.Name = "edit"; a.Key() == b.Key() {
			t.Errorf("%s is the same for another tool", c.a)
		}
	}
}
