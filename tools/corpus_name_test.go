package tools

import (
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"testing"
)

type nameCase struct {
	ID    string
	Grade string
	Input struct {
		Task, Name, Recipient string
		Tools                 *[]string
	}
	Expect struct {
		Name, Recipient *string
		IsFunction      bool `json:"is_function"`
	}
}

// got returns what the function that the case is about makes of it.
func (n nameCase) got() (got any, known bool) {
	rules := testRules()
	switch n.Input.Task {
	case "clean_name":
		return cleanName(n.Input.Name), true
	case "clean_recipient":
		return cleanName(n.Input.Recipient), true
	case "extract_name":
		name, _ := rules.stripPrefixes(cleanName(n.Input.Recipient))
		return name, true
	case "recipient":
		c := OpenCatalog(rules)
		if n.Input.Tools != nil {
			c = NewCatalog(rules, nil, offer(*n.Input.Tools...))
		}
		m, refusal := c.Name(n.Input.Recipient)
		return refusal == nil && !isBuiltin(m.Name), true
	case "match":
		m, _ := NewCatalog(rules, nil, offer(*n.Input.Tools...)).Name(n.Input.Name)
		return m.Name, true
	}
	return nil, false // sanitise: names that go out are not ours to change
}

func (n nameCase) want() any {
	if n.Input.Task == "recipient" {
		return n.Expect.IsFunction
	}
	for _, s := range [...]*string{n.Expect.Name, n.Expect.Recipient} {
		if s != nil {
			return *s
		}
	}
	return ""
}

// TestNameCorpus measures names against the corpus. Where it disagrees by rule:
// "terminall" for terminal, because a tool that executes is never guessed.
func TestNameCorpus(t *testing.T) {
	total, right := map[string]int{}, map[string]int{}
	for _, n := range testkit.Corpus[nameCase](t, "toolname") {
		got, known := n.got()
		if !known {
			continue
		}
		total[n.Grade]++
		if got == n.want() {
			right[n.Grade]++
			continue
		}
		log := t.Logf
		if n.Grade == "must" {
			log = t.Errorf
		}
		log("%s (%s): %s %q: got %v, want %v", n.ID, n.Grade, n.Input.Task, n.Input.Name+n.Input.Recipient,
			got, n.want())
	}
	t.Logf("right: %v of %v", right, total)
	if 10*right["should"] < 9*total["should"] {
		t.Errorf("only %d of %d should cases are right", right["should"], total["should"])
	}
}
