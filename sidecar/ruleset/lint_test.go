package ruleset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// TestShippedRulesGiveNoWarning: a warning about our own rules is a mistake, in one
// or the other.
func TestShippedRulesGiveNoWarning(t *testing.T) {
	if _, problems := Load(shipped(t)); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestWarningsWaitForProblems: a file with a problem is not linted, others are.
func TestWarningsWaitForProblems(t *testing.T) {
	files := shipped(t)
	files[aliasesFile] = "version: 1\nprefixes: [a, a]\nglued: 3\n"
	files[argumentsFile] = strings.Replace(files[argumentsFile], "path: [file_path,", "path: [path, file_path,", 1)
	_, problems := Load(files)
	if len(problems) != 2 || problems[0].Code != rulefile.CodeType || problems[1].Code != codeShadowed || !problems[1].Warning {
		t.Error(problems)
	}
}

// somePattern is a random regular expression with many assertions.
func somePattern(rng *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "_", " ", "é", `\n`, "^", "$", `\b`, `\B`, `\A`, `\z`, "(?m:^)", "(?m:$)", ".", "(?s:.)",
		"[ab]", "[^a]", "[^\\x00-\\x{10FFFF}]", `\w`, `\W`, `\s`, "(?i:k)", "[^\\w\\s]", ""}
	if depth == 0 {
		return atoms[rng.IntN(len(atoms))]
	}
	sub := func() string { return "(?:" + somePattern(rng, depth-1) + ")" }
	switch rng.IntN(7) {
	case 0:
		return sub() + "|" + sub()
	case 1:
		return sub() + []string{"*", "+", "?", "{2}", "{0}", "*?"}[rng.IntN(6)]
	case 2:
		return "(" + somePattern(rng, depth-1) + ")"
	}
	return sub() + sub()
}

// short are all texts of up to n of these characters.
func short(n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, r := range []string{"a", "b", "_", " ", "é", "\n", "K"} {
				next = append(next, s+r)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// TestCanMatch compares with regexp itself on all short texts: what cannot match
// never does, and hardly anything that can match needs a longer text.
func TestCanMatch(t *testing.T) {
	patterns := 6_000
	if testing.Short() {
		patterns = 300
	}
	rng := rand.New(rand.NewPCG(3, 4))
	texts := short(4)
	never, longer := 0, 0
	for range patterns {
		p := somePattern(rng, 1+rng.IntN(3))
		tree, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(texts, regexp.MustCompile(p).MatchString)
		switch can := canMatch(prog); {
		case found && !can:
			t.Fatalf("%q can match", p)
		case !can:
			never++
		case !found:
			longer++
		}
	}
	t.Logf("%d of %d patterns match nothing; %d more match no text of 4 characters", never, patterns, longer)
	if never < patterns/20 || longer > patterns/20 {
		t.Errorf("%d match nothing, %d need a longer text", never, longer)
	}
}

// TestUnreachableStrategiesNeverRead: random literals, random texts. A strategy or
// literal of which lint says that it never opens leaves no trace in any reading.
func TestUnreachableStrategiesNeverRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []string{
		"kind: block, priority: %d, confidence: 1, block: {open: ['%s', '%s'], body: json}",
		"kind: block, priority: %d, confidence: 1, block: {open: ['%s', '%s'], body: named}",
		"kind: drop, priority: %d, confidence: 1, drop: {text: ['%s', '%s']}",
	}
	bits := []string{"<a", "<A>", "<ab", "[x", "[x]", "`", "do", "Doc", "<|end|>", "{", `{"name": "read", "arguments": {}}`, " ", "\n", "read", "]"}
	files := rulefile.Files{limitsFile: shipped(t)[limitsFile]} // nothing else is needed to read
	warned, sets := 0, 400
	if testing.Short() {
		sets = 80
	}
	for range sets {
		var doc strings.Builder
		doc.WriteString("version: 1\nstrategies:\n  - {id: h, about: x, kind: harmony, priority: 1, confidence: 1}\n")
		for i := range 3 {
			fmt.Fprintf(&doc, "  - {id: s%d, about: x, "+kinds[rng.IntN(3)]+"}\n",
				i, 9-i, bits[rng.IntN(8)]+bits[rng.IntN(8)], bits[rng.IntN(8)]+bits[rng.IntN(9)])
		}
		files[strategiesFile] = doc.String()
		l := prepare(files)
		l.lint()
		silent := map[string]bool{}
		for _, p := range l.problems {
			if p.Code == codeUnreachable && p.Warning {
				id, _, _ := strings.Cut(p.Msg, " ")
				silent[id] = true
			}
		}
		if !l.clean(strategiesFile) || len(silent) == 0 {
			continue
		}
		warned++
		c := tools.NewCatalog(l.set.Tools, nil, []tools.Tool{{Name: "read"}})
		for range 100 {
			var text strings.Builder
			for range rng.IntN(12) {
				text.WriteString(bits[rng.IntN(len(bits))])
			}
			r := l.set.Strategies("").Reader(c, parse.Facts{})
			r.Feed(parse.Delta{Content: text.String()})
			reading, _ := r.Close("stop")
			for _, s := range reading.Steps {
				if silent[s.Strategy] {
					t.Fatalf("%s read %q:\n%s", s.Strategy, text.String(), doc.String())
				}
			}
		}
	}
	if warned < sets/50 {
		t.Errorf("only %d sets with a warning", warned)
	}
}
