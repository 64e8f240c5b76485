package noise

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// strict reads undamaged replies and nothing else.
func strict(c Case) Got {
	got := Got{Reasoning: c.Thoughts, Finish: c.Finish}
	for _, n := range c.Native {
		got.Calls = append(got.Calls, GotCall{n.Name, json.RawMessage(n.Args)})
	}
	for _, part := range strings.Split(c.Content, "<|start|>assistant") {
		header, body, ok := strings.Cut(part, "<|message|>")
		if !ok {
			got.Content += part
			continue
		}
		for _, end := range []string{"<|end|>", "<|call|>", "<|return|>"} {
			body = strings.TrimSuffix(body, end)
		}
		_, name, isCall := strings.Cut(header, "to=functions.")
		switch {
		case isCall:
			name, _, _ = strings.Cut(name, " ")
			got.Calls = append(got.Calls, GotCall{name, json.RawMessage(body)})
		case strings.Contains(header, "analysis"):
			got.Reasoning += body
		default:
			got.Content += body
		}
	}
	return got
}

// The truth is sound: what nobody damaged is read whole by the simplest reader.
func TestUndamagedIsRead(t *testing.T) {
	for seed := range uint64(5000) {
		c := New(seed, Options{})
		if v := Judge(c, strict(c)); !v.Good() {
			t.Fatalf("seed %d: %+v\n%+v", seed, v, c)
		}
	}
}

// The same seed is the same case, and its deltas are its text.
func TestSeedDecides(t *testing.T) {
	for seed := range uint64(3000) {
		o := Options{Chain: -1, Negatives: seed%3 == 0}
		c := New(seed, o)
		if !reflect.DeepEqual(c, New(seed, o)) {
			t.Fatalf("seed %d gives two cases", seed)
		}
		var content, thoughts string
		for _, d := range c.Deltas {
			content, thoughts = content+d.Content, thoughts+d.Thoughts
		}
		if content != c.Content || thoughts != c.Thoughts {
			t.Fatalf("seed %d: the deltas are another text", seed)
		}
	}
}

func TestEveryOperatorFires(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range Operators() {
		if seen[op.ID] || op.About == "" {
			t.Errorf("%s: twice, or says nothing", op.ID)
		}
		seen[op.ID] = true
		fired := 0
		for seed := range uint64(400) {
			fired += len(New(seed, Options{Only: []string{op.ID}, Chain: 1}).Ops)
		}
		if fired == 0 {
			t.Errorf("%s never changes anything", op.ID)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d operators", len(seen))
	}
}

// What must be read has exactly the arguments that its tool takes.
func TestTruthFitsItsSchema(t *testing.T) {
	for seed := range uint64(3000) {
		c := New(seed, Options{Chain: -1})
		for _, call := range c.Truth {
			var args map[string]any
			if err := json.Unmarshal(call.Args, &args); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, tool := range c.Tools {
				if tool.Name == call.Name && len(args) != len(tool.Params) {
					t.Fatalf("seed %d: %s has %d arguments", seed, call.Name, len(args))
				}
			}
		}
	}
}

// A call that was cut never runs, and nothing that follows the cut is owed.
func TestCutCallsAreNeverOwed(t *testing.T) {
	never := 0
	for seed := range uint64(3000) {
		c := New(seed, Options{Only: []string{"cut-length"}, Chain: 1})
		for _, call := range c.Truth {
			if call.Standing == Never {
				never++
			}
			if call.Standing == Must && !strings.Contains(c.Content, string(call.Args)) {
				t.Fatalf("seed %d: owed, but not there: %s\n%s", seed, call.Args, c.Content)
			}
		}
	}
	if never == 0 {
		t.Error("no call was cut")
	}
}

func TestJudge(t *testing.T) {
	args := json.RawMessage(`{"path": "a"}`)
	c := Case{Tools: written().Tools, Truth: []Call{{"write", args, Writes, Must}}, Visible: []string{"Hello."},
		Hidden: []string{"Hm."}}
	cut := c
	cut.Truth = []Call{{"write", args, Writes, Never}}
	right := GotCall{"write", json.RawMessage(`{"path":"a"}`)}
	for _, row := range []struct {
		name string
		c    Case
		got  Got
		want func(v Verdict) bool
	}{
		{"recovered", c, Got{Calls: []GotCall{right}, Content: "Hello."}, Verdict.Good},
		{"missed", c, Got{Content: "Hello."}, func(v Verdict) bool { return v.Missed == 1 }},
		{"asked again", c, Got{Content: "Hello.", Refused: 1}, func(v Verdict) bool { return v.AskedAgain == 1 && v.Missed == 0 }},
		{"wrong name", c, Got{Calls: []GotCall{{"read", args}}}, func(v Verdict) bool { return v.WrongName == 1 && len(v.False) == 0 }},
		{"wrong value", c, Got{Calls: []GotCall{{"write", json.RawMessage(`{"path":"b"}`)}}}, func(v Verdict) bool { return v.WrongValue == 1 }},
		{"twice", c, Got{Calls: []GotCall{right, right}}, func(v Verdict) bool { return v.False[Writes] == 1 && v.Recovered == 1 }},
		{"cut, and run", cut, Got{Calls: []GotCall{right}}, func(v Verdict) bool { return v.False[Writes] == 1 }},
		{"cut, and not run", cut, Got{Content: "Hello."}, Verdict.Good},
		{"leak", c, Got{Calls: []GotCall{right}, Content: "Hello.<|call|>"}, func(v Verdict) bool { return v.Leak }},
		{"lost", c, Got{Calls: []GotCall{right}}, func(v Verdict) bool { return v.Lost }},
		{"extra", c, Got{Calls: []GotCall{right}, Content: "Hm.Hello."}, func(v Verdict) bool { return v.Extra }},
	} {
		if v := Judge(row.c, row.got); !row.want(v) {
			t.Errorf("%s: %+v", row.name, v)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := (Options{Only: []string{"nope"}}).Check(); err == nil ||
		!strings.Contains(err.Error(), "nope") {
		t.Errorf("%v", err)
	}
	frames := []Frame{{Open: "<call>", Call: "{name} {arguments}"}}
	for _, o := range []Options{{Only: []string{"frame.end"}}, {Only: []string{"close-end"}, Frames: frames}} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "with a family") {
			t.Errorf("%v: %v", o, err)
		}
	}
	if err := (Options{Only: []string{"frame.end"}, Frames: frames}).Check(); err != nil {
		t.Error(err)
	}
	if (Options{Chain: 5}).Check() == nil ||
		(Options{Chain: -1, Without: []string{"close-end"}}).Check() != nil {
		t.Error("chains are not checked")
	}
}

// A measurement adds up, and a reader that reads nothing recovers nothing.
// A mix draws its damages at its rates, and no other.
func TestMix(t *testing.T) {
	for _, mix := range Mixes() {
		seen := map[string]float64{}
		const n = 2000
		for seed := range uint64(n) {
			for _, op := range New(seed, Options{Mix: mix.ID}).Ops {
				seen[op]++
			}
		}
		for op, count := range seen {
			if rate := mix.rates[op]; count/n > rate+0.04 {
				t.Errorf("%s: %s came in %.1f %% of the cases, its rate is %.0f %%", mix.ID, op, 100*count/n,
					100*rate)
			}
		}
		for op := range mix.rates {
			if seen[op] == 0 {
				t.Errorf("%s: %s never came", mix.ID, op)
			}
		}
	}
	if err := (Options{Mix: "gpt-9"}).Check(); err == nil {
		t.Error("a mix that there is not passes")
	}
}

func TestMeasure(t *testing.T) {
	table := Measure(1, 500, Options{Chain: 1}, func(Case) Got { return Got{} })
	all := table["all"]
	if all.Cases != 500 || all.Recovered != 0 || all.Owed != all.Missed || all.Example == 0 {
		t.Errorf("%+v", all)
	}
	var b strings.Builder
	if err := table.Write(&b, "op "); err != nil || !strings.Contains(b.String(), "op json.quote") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func FuzzNew(f *testing.F) {
	f.Add(uint64(0), false)
	f.Fuzz(func(t *testing.T, seed uint64, negative bool) {
		c := New(seed, Options{Chain: -1, Negatives: negative})
		Judge(c, strict(c))
	})
}

func TestManyDraws(t *testing.T) {
	kinds := map[string]bool{}
	for seed := range uint64(20000) {
		c := New(seed, Options{Chain: -1, Negatives: seed%2 == 0})
		if c.Negative != "" {
			kinds[c.Negative] = true
			if len(c.Truth) > 0 {
				t.Fatalf("seed %d: a negative with a call", seed)
			}
		}
	}
	if len(kinds) < 25 {
		t.Errorf("%d kinds without a call", len(kinds))
	}
}

func BenchmarkNew(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		seed++
		New(seed, Options{Chain: -1})
	}
}
