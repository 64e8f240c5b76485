package ruleset

import (
	"fmt"
	"math/rand/v2"
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
