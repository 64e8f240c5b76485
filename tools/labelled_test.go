package tools

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// Arguments of the project's own table are read as they were meant, or refused where they mean nothing, or not
// one thing alone.
func TestLabelledArguments(t *testing.T) {
	file, err := os.Open("../testdata/reading/arguments.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var row struct {
			Why, Text string
			Schema    json.RawMessage
			Value     any    // nil: the call is refused
			Tool      string // empty: one of which nothing is known
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		tool := Tool{Name: cmp.Or(row.Tool, "handle"), Parameters: row.Schema}
		got, refusal := NewCatalog(testRules(), nil, []Tool{tool}).Call(tool.Name, []byte(row.Text), closed)
		if (refusal != nil) != (row.Value == nil) || refusal == nil &&
			!gocmp.Equal(decoded(string(got.Arguments)), row.Value) {
			t.Errorf("%s: %q\n  gives %s, refused %v", row.Why, row.Text, got.Arguments, refusal)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
