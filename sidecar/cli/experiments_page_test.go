package cli

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const experimentsPage = "../../docs/experiments.md"

// The guide is true: the experiment that it shows is one that runs, and what the command says of it,
// after 100 and after 2,000 sessions with a scripted model, is what it shows.
func TestExperimentsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("2,000 sessions; TestExperiment of sidecar goes through the same goroutines")
	}
	page, err := os.ReadFile(experimentsPage)
	ruletest.Must(t, err)
	part := func(name string) (from, to int) {
		begin, end := "<!-- "+name+" -->\n\n", "\n<!-- end -->"
		from = strings.Index(string(page), begin) + len(begin)
		if to = from + strings.Index(string(page[from:]), end); from < len(begin) || to < from {
			t.Fatalf("the page has no part %s", name)
		}
		return from, to
	}
	from, to := part("experiment")
	rules := strings.ReplaceAll("\n"+string(page[from:to]), "\n    ", "\n")
	model := httptest.NewServer(script.New(servers.Prompted("Be short.")))
	defer model.Close()
	address, admin, _ := serveRules(t, model.URL, map[string]string{"prompts/short.txt": "Be short.\n",
		"extra/experiments.short-prompt.yaml": rules})
	done := 0
	for _, stage := range []struct {
		name     string
		sessions int
	}{{"100 sessions", 100}, {"2000 sessions", 2000}} {
		ruletest.Must(t, servers.Sessions(t.Context(), "http://"+address+"/v1", done, stage.sessions))
		done = stage.sessions
		var out strings.Builder
		if code := Run([]string{"experiments", "--admin", admin}, Env{Parts: Parts, Out: &out,
			Err: &out}); code != 0 {
			t.Fatal(out.String())
		}
		shown := ""
		for line := range strings.Lines(out.String()) {
			shown += "    " + strings.TrimRight(line, " \n") + "\n"
		}
		if from, to := part(stage.name); string(page[from:to]) != shown {
			if *update {
				page = []byte(string(page[:from]) + shown + string(page[to:]))
				continue
			}
			t.Errorf("after %s the guide shows\n%s\nand it is\n%s\nmake experiments writes it anew",
				stage.name, page[from:to], shown)
		}
	}
	if *update {
		ruletest.Must(t, os.WriteFile(experimentsPage, page, 0o644))
	}
}
