package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// damagedJSON is a case of the corpus jsonrepair.
type damagedJSON struct {
	ID, Grade string
	Input     struct{ Text string }
	Expect    struct{ JSON json.RawMessage }
}

// TestOutcomes calls tools of each class with what the corpora and the slips hold. OUTCOMES=FILE writes one
// line for each call, so that two readers can be compared (make compare-readers).
func TestOutcomes(t *testing.T) {
	path := os.Getenv("OUTCOMES")
	if path == "" {
		t.Skip("OUTCOMES names the file that takes them")
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	counts := map[string]map[string]int{}
	add := func(kind, id, text string, got Call, refusal *Refusal, want json.RawMessage) {
		what, args := "wrong", string(got.Arguments)
		switch {
		case refusal != nil:
			what, args = "refused", refusal.Why
		case want != nil && SameJSON(got.Arguments, want):
			what = "right"
		}
		if counts[kind] == nil {
			counts[kind] = map[string]int{}
		}
		counts[kind][what]++
		if what == "refused" {
			args = string(refusal.Code)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%q\t%s\t%q\n", kind, id, what, args, want, text)
	}
	for _, c := range testkit.Corpus[damagedJSON](t, "jsonrepair") {
		var meant map[string]json.RawMessage
		if json.Unmarshal(c.Expect.JSON, &meant) != nil || len(meant) == 0 || SameJSON([]byte(c.Input.Text),
			c.Expect.JSON) {
			continue
		}
		var props []string
		for _, name := range slices.Sorted(maps.Keys(meant)) {
			props = append(props, jsontext.Quote(name)+":{}")
		}
		schema := json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`)
		for _, name := range []string{"read", "write", "exec"} {
			catalog := NewCatalog(testRules(), nil, []Tool{{Name: name, Parameters: schema}})
			got, refusal := catalog.Call(name, []byte(c.Input.Text), closed)
			add("json "+c.Grade+" "+name, c.ID, c.Input.Text, got, refusal, c.Expect.JSON)
		}
	}
	for _, c := range testkit.Corpus[shapeCase](t, "coerce") {
		catalog := NewCatalog(testRules(), nil, []Tool{{Name: "read_it", Parameters: c.Input.Schema}})
		got, refusal := catalog.Call("read_it", []byte(c.Input.Text), closed)
		add("coerce "+c.Grade, c.ID, c.Input.Text, got, refusal, c.Expect.JSON)
	}
	every := slices.Concat(slips, streamSlips)
	for seed := range uint64(40_000) {
		r := rand.New(rand.NewPCG(7, seed))
		d := draw(r)
		meant := d.String()
		var done []string
		for range 1 + r.IntN(2) {
			s := every[r.IntN(len(every))]
			s.do(d)
			done = append(done, s.name)
		}
		text := d.String()
		name, _, _ := strings.Cut(d.tool.spec, "(")
		c := catalogOf(d.tool.spec)
		got, refusal := c.Call(name, []byte(text), d.end)
		add("slips "+string(c.Class(name)), fmt.Sprintf("%05d %s", seed, strings.Join(done, "+")), text,
			got, refusal, []byte(meant))
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%-24s right %5d  refused %5d  wrong %5d", kind, counts[kind]["right"],
			counts[kind]["refused"],
			counts[kind]["wrong"])
	}
}
