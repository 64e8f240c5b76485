package ruleset

import (
	"fmt"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"strings"
	"testing"
)

// BenchmarkDecide decides on all commands of the corpus, under the shipped rules and under
// 200 of them. The time is that of one decision, with taking the command apart.
func BenchmarkDecide(b *testing.B) {
	cases := testkit.Corpus[commandCase](b, "exec")
	for name, set := range map[string]*Set{"shipped": loaded(b), "200 rules": manyRules(b, 200)} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				set.CheckCommand(cases[i%len(cases)].Command, somebody, corpusAt)
			}
		})
	}
}

// BenchmarkDecideMany decides on 64 commands in one line, under 200 rules.
func BenchmarkDecideMany(b *testing.B) {
	set := manyRules(b, 200)
	line := strings.Repeat("grep -rn main src | sort -u | head -n 5 && git status; ", 16)
	for b.Loop() {
		set.CheckCommand(line, somebody, corpusAt)
	}
}

// manyRules are the shipped rules, and as many of the kinds that people write as make n.
func manyRules(b testing.TB, n int) *Set {
	b.Helper()
	kinds := []string{
		"cmd.binary == 'prog%d'", "cmd.binary == 'git' and 'word%d' in cmd.argv",
		"cmd.binary in ['a%d', 'b', 'c'] and '-f' in cmd.flags",
		"'publish' in cmd.tags and now.hour > %d", "any(cmd.deletes, .path endsWith '%d.keep')",
		"command contains 'secret%d'",
		"agent == 'agent%d' and class == 'exec'", "any(cmd.argv, # startsWith '--danger%d')",
	}
	var more strings.Builder
	files := shipped(b)
	for i := strings.Count(files[execFilename], "\n  - id: "); i < n; i++ {
		fmt.Fprintf(&more, "  - id: more-%d\n    ask: Somebody wants to know.\n    when: |\n      "+
			kinds[i%len(kinds)]+"\n", i, i)
	}
	files[execFilename] += more.String()
	set, problems := Full.Load(files)
	if set == nil {
		b.Fatal(problems)
	}
	return set
}
