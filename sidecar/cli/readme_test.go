package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the README shows of the policy is what it says. A line that goes on ends in "…".
func TestReadmeDecisions(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^    \$ bin/gpt-oss-executor policy check --command '(.+)'\n((?:    [^$\n].*\n)+)`).FindAllStringSubmatch(string(page), -1)
	if len(shown) < 2 {
		t.Fatalf("%d examples", len(shown))
	}
	for _, example := range shown {
		var out, errs strings.Builder
		Run([]string{"policy", "check", "--command", example[1]},
			Env{Parts: Parts, Out: &out, Err: &errs, Defaults: os.DirFS("../.."), Environ: []string{}})
		for _, line := range strings.Split(strings.TrimSpace(example[2]), "\n") {
			line, open := strings.CutSuffix(strings.TrimSpace(line), " …")
			if said := out.String(); !strings.Contains("\n"+said, "\n"+line) ||
				!open && !strings.Contains(said, line+"\n") {
				t.Errorf("%s: the README says %q, and the program:\n%s%s", example[1], line, said, &errs)
			}
		}
	}
}
