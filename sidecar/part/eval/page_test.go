package eval_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

var update = flag.Bool("update", false, "measure, and write docs/reading.md anew; a minute")

const (
	pageFile   = "reading.md"
	missesFile = "reading-misses.yaml"
	wanted     = 0.99 // of the calls after a single damage
)

func docs(name string) string { return filepath.Join(testkit.Root(), "docs", name) }

func misses(t *testing.T) (out map[string]string) {
	t.Helper()
	doc, err := os.ReadFile(docs(missesFile))
	ruletest.Must(t, err)
	ruletest.Must(t, yaml.Unmarshal(doc, &out))
	return out
}

// docs/reading.md has the reason of each known miss, and every reason is about a kind of damage. With
// -update it is measured and written anew, and a damage that is read too seldom needs a reason.
func TestReadingPage(t *testing.T) {
	why := misses(t)
	for _, id := range slices.Sorted(maps.Keys(why)) {
		if !slices.ContainsFunc(noise.Operators(), func(o noise.Operator) bool { return o.ID == id }) {
			t.Errorf("docs/%s: there is no damage %s", missesFile, id)
		}
	}
	if *update {
		m := measureAll(t)
		for _, id := range slices.Sorted(maps.Keys(m.alone)) {
			switch row := m.alone[id]; {
			case row.Rate() < wanted && why[id] == "":
				t.Errorf("%s: %.1f %% of the calls are read; docs/%s must say why (seed %d shows it)", id,
					100*row.Rate(), missesFile, row.Example)
			case row.Rate() >= wanted && why[id] != "":
				t.Errorf("%s: %.1f %% of the calls are read; drop its reason from docs/%s", id,
					100*row.Rate(), missesFile)
			}
		}
		if t.Failed() {
			return
		}
		ruletest.Must(t, os.WriteFile(docs(pageFile), []byte(m.page(why)), 0o644))
	}
	page, err := os.ReadFile(docs(pageFile))
	ruletest.Must(t, err)
	if !strings.Contains(string(page), damages()) {
		t.Errorf("docs/%s has another table of damage; write it anew with: make reading", pageFile)
	}
	for id, reason := range why {
		if !strings.Contains(string(page), "| `"+id+"` |") || !strings.Contains(string(page), reason) {
			t.Errorf("docs/%s does not tell of %s; write it anew with: make reading", pageFile, id)
		}
	}
}

// damages is the table by which arguments are damaged and read.
func damages() string {
	var b strings.Builder
	b.WriteString("## Damage of arguments\n\nThe rows of `tools/args`: each says what damages arguments, and what undoes that. The noise, `explain` and the\nreader have them from there. Rows without *all* are undone for tools that only read.\n\n| row | what | undone for |\n|---|---|---|\n")
	for _, op := range args.Ops() {
		whom := "reading"
		if op.Keeps {
			whom = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", op.ID, op.About, whom)
	}
	return b.String() + "\n"
}

func (m *measured) page(why map[string]string) string {
	var b strings.Builder
	b.WriteString(head)
	m.recovery(&b)
	m.others(&b)
	m.known(&b, why)
	m.frames(&b)
	b.WriteString(damages())
	m.quotations(&b)
	return b.String()
}

const head = `# How well replies are read

` + "`make reading`" + ` measures this anew and writes this page. All replies are made up: a seed decides what the model
meant and how the reply is damaged ([noise.md](noise.md)), so it is known which calls are right. What decides
whether a text is a call is told in ` + "`rules/evidence.yaml`" + `; ` + "`gpt-oss-executor explain`" + ` shows it for each text
of a reply.

`

func (m *measured) recovery(b *strings.Builder) {
	fmt.Fprintf(b, "## Calls that are read\n\n%d replies for each line. *Asked again*: refused with a reason, so the model makes the call anew.\n\n", chainCount)
	fmt.Fprintf(b, "| damages | read | asked again | wrong value | false calls |\n|---|---:|---:|---:|---:|\n")
	for _, n := range slices.Sorted(maps.Keys(m.chains)) {
		row := m.chains[n]
		fmt.Fprintf(b, "| %d | %s | %s | %d | %d |\n", n, rate(row), percent(row.AskedAgain, row.Owed),
			row.WrongValue, sum(row.False))
	}
	b.WriteString("\n")
}

func (m *measured) others(b *strings.Builder) {
	b.WriteString("Models with the same wire format slip in other ways. A mix has a rate for each damage, from public\nreports (`internal/noise/mix.go`):\n\n")
	for _, mix := range noise.Mixes() {
		row, none := m.mixes[mix.ID], m.noCall[mix.ID]
		fmt.Fprintf(b, "- `%s`: %s are read. %d false calls in %d replies without a call.\n", mix.ID,
			rate(row), sum(none.False), negativeCount)
	}
	b.WriteString("\n")
}

func (m *measured) known(b *strings.Builder, why map[string]string) {
	fmt.Fprintf(b, "## Known misses\n\n`gpt-oss-executor noise ops` lists the kinds of damage, %d in all. Alone, each is read in at least %.0f %% of %d\nreplies, but for these:\n\n| damage | read | seed | why |\n|---|---:|---:|---|\n", len(m.alone), 100*wanted, aloneCount)
	for _, id := range slices.Sorted(maps.Keys(why)) {
		row := m.alone[id]
		fmt.Fprintf(b, "| `%s` | %s | %d | %s |\n", id, rate(row), row.Example, why[id])
	}
	b.WriteString("\n")
}

// frames is the table of other families.
func (m *measured) frames(b *strings.Builder) {
	fmt.Fprintf(b, "## Calls of other families\n\n%d replies for each number, written in the frames of `rules/families` and damaged there: a literal is lost,\ndoubled or in the wrong place, a name in quotes, an argument without its end (`frame.` in `noise ops`;\n`gpt-oss-executor noise cases --family qwen3` shows them). The share that is read with 0, 1\nand 2 damages; with one of arguments alone (`--arguments`), and with one of each. Most others are asked again.\nArguments that are written one by one have JSON to damage only where one is an object; where Python writes\nthem, none is damaged.\n\n| family | 0 | 1 | 2 | arguments | 1 + arguments | wrong value | false calls |\n|---|---:|---:|---:|---:|---:|---:|---:|\n", familyCount)
	for _, family := range slices.Sorted(maps.Keys(m.families)) {
		wrong, none := 0, 0
		fmt.Fprintf(b, "| %s |", family)
		for _, row := range m.families[family] {
			fmt.Fprintf(b, " %s |", rate(row))
			wrong, none = wrong+row.WrongValue+row.WrongName, none+sum(row.False)
		}
		fmt.Fprintf(b, " %d | %d |\n", wrong, none)
	}
	b.WriteString("\n")
}

func (m *measured) quotations(b *strings.Builder) {
	all := *m.negatives["all"]
	fmt.Fprintf(b, "## Replies without a call\n\n%d replies that quote, explain, refuse or invent calls, or answer in JSON, with 0 to 4 damages. %d calls were\nread in them. The text of %d was held back in the first reply, because an object as the answer fits a tool: the\nmodel is asked what it is. A request with a `response_format` gets it at once.\n", negativeCount, sum(all.False), all.Lost)
}

func rate(r noise.Row) string { return percent(r.Recovered, r.Owed) }

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func sum(by map[noise.Class]int) (n int) {
	for _, k := range by {
		n += k
	}
	return n
}
