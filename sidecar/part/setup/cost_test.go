package setup

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var usage = Usage{Hours: 10, From: "counted by nobody", Models: []Tokens{
	{Model: "gpt-oss-20b", Prompt: 1e6, Completion: 1e6, Reasoning: 5e5},
	{Model: "gpt-oss-120b", Prompt: 7e6, Completion: 1e6},
}}

func about(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Max(1, math.Abs(b)) }

// What tokens cost, by what the user says.
func TestOf(t *testing.T) {
	prices := &Prices{Currency: "EUR", Models: []Price{{Name: "there", Prompt: 1, Completion: 10,
		Source: "a page, today"}}}
	for _, c := range []struct {
		name                    string
		own                     Own
		total                   float64
		any, prompt, completion float64
	}{
		{"an hour has a price", Own{PerHour: 2}, 20, 2, 0, 0},
		{"electricity", Own{Watts: 500, PerKWh: .4}, 2, .2, 0, 0},
		{"both", Own{PerHour: 2, Watts: 500, PerKWh: .4}, 22, 2.2, 0, 0},
		{"other hours", Own{PerHour: 2, Hours: 100}, 200, 20, 0, 0},
		{"completion is six times as dear", Own{PerHour: 2, Weight: 6}, 20, 2, 1, 6},
		{"they are as dear", Own{PerHour: 2, Weight: 1}, 20, 2, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Of(usage, c.own, prices)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, p := range r.Parts {
				sum += p.Value
			}
			if !about(r.Total.Value, c.total) || !about(sum, c.total) {
				t.Errorf("all of it %g, its parts %g", r.Total.Value, sum)
			}
			want := []float64{c.any, c.prompt, c.completion}[:1+2*len(r.Per)/3]
			for i, p := range r.Per {
				if !about(p.Value, want[i]) {
					t.Errorf("%s: %g, and not %g", p.Name, p.Value, want[i])
				}
			}
			if (c.own.Weight > 0) != (len(r.Per) == 3) {
				t.Errorf("%d numbers a million", len(r.Per))
			}
			if h := r.Hosted[0]; !about(h.Value, 8+20) || !about(h.Times, 28/c.total) ||
				h.Source != "a page, today" {
				t.Errorf("there: %+v", h)
			}
			// What prompt and completion cost adds up to all of it.
			if all := usage.All(); len(r.Per) == 3 &&
				!about(all.Prompt/million*r.Per[1].Value+all.Completion/million*r.Per[2].Value, c.total) {
				t.Errorf("the parts of prompt and completion do not add up: %v", r.Per)
			}
			for _, a := range append(r.Parts, r.Per...) {
				if a.Way == "" {
					t.Errorf("%s: it does not say where it is from", a.Name)
				}
			}
		})
	}
}

func TestOfRefuses(t *testing.T) {
	unknown := usage
	unknown.Hours = 0
	for _, c := range []struct {
		name string
		of   Usage
		own  Own
		want string
	}{
		{"no tokens", Usage{From: "x", Models: []Tokens{{Model: "a"}}}, Own{PerHour: 1}, "no tokens were counted"},
		{"no hours", unknown, Own{PerHour: 1}, "--hours"},
		{"half of electricity", usage, Own{Watts: 100}, "--per-kwh"},
		{"hours of nothing", usage, Own{Hours: 100}, "--hours and --weight have an effect only with"},
		{"a weight of nothing", usage, Own{Weight: .3}, "--hours and --weight have an effect only with"},
		{"a negative price", usage, Own{PerHour: -1}, "--per-hour -1"},
		{"no number", usage, Own{PerHour: math.NaN()}, "--per-hour NaN"},
		{"two currencies", usage, Own{PerHour: 1, Currency: "USD"}, "one currency"},
	} {
		if _, err := Of(c.of, c.own, &Prices{Currency: "EUR"}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if r, err := Of(unknown, Own{}, nil); err != nil || r.Total != nil || len(r.Per) > 0 {
		t.Errorf("without a price there is none: %+v, %v", r, err)
	}
}

// A report for people has each number, and where it is from.
func TestLines(t *testing.T) {
	r, err := Of(usage, Own{PerHour: 2.125, Watts: 500, PerKWh: .4, Weight: 6},
		&Prices{Currency: "EUR", Models: []Price{{"there", .035, .14, "a page, today"}}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(r.Lines(), "\n") + "\n"
	want, err := os.ReadFile("testdata/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report is\n%s\nand not\n%s", got, want)
	}
	if r, err = Of(usage, Own{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Lines(), "\n"); !strings.Contains(got, "not known") ||
		!strings.Contains(got, "--per-hour") {
		t.Errorf("without a price it says\n%s", got)
	}
}

func TestPrices(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"filled in", "currency: EUR\nmodels:\n  - {name: a, prompt: 0.1, completion: 1, source: x}\n", ""},
		{"free", "currency: EUR\nmodels:\n  - {name: a, prompt: 0, completion: 0, source: x}\n", ""},
		{"a price lacks its number", "currency: EUR\nmodels:\n  - {name: a, prompt: , completion: 1, source: x}\n", "prompt has no value"},
		{"a price is not there", "currency: EUR\nmodels:\n  - {name: a, completion: 1, source: x}\n", "lacks prompt"},
		{"nobody knows where it is from", "currency: EUR\nmodels:\n  - {name: a, prompt: 1, completion: 1, source: ''}\n", "where and when"},
		{"no currency", "currency: ''\nmodels: []\n", "currency is empty"},
		{"a word", "currency: EUR\nmodels:\n  - {name: a, prompt: cheap, completion: 1, source: x}\n", ":3:"},
		{"a slip", "currency: EUR\nmodels:\n  - {name: a, promt: 1, completion: 1, source: x}\n", "did you mean prompt"},
		{"a negative one", "currency: EUR\nmodels:\n  - {name: a, prompt: -1, completion: 1, source: x}\n", "prompt"},
	} {
		name := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPrices(name)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && (p.Currency != "EUR" || len(p.Models) != 1) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	if _, err := ReadPrices(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there is no error")
	}
	// The file to begin with holds no number: whoever fills it in must know each.
	if _, err := ReadPrices("../../../deploy/prices.yaml"); err == nil ||
		!strings.Contains(err.Error(), "prompt has no value") ||
		!strings.Contains(err.Error(), "completion has no value") {
		t.Errorf("deploy/prices.yaml as it is: %v", err)
	}
}
