package fit

import (
	"cmp"
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
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

var update = flag.Bool("update", false, "measure, and write docs/reading.md anew; a minute")

const (
	pageFile    = "reading.md"
	pictureFile = "reading-calibration.svg"
	missesFile  = "reading-misses.yaml"
	wanted      = 0.99 // of the calls after a single damage
)

func docs(name string) string { return filepath.Join(ruletest.Root(), "docs", name) }

func misses(t *testing.T) (out map[string]string) {
	t.Helper()
	doc, err := os.ReadFile(docs(missesFile))
	ruletest.Must(t, err)
	ruletest.Must(t, yaml.Unmarshal(doc, &out))
	return out
}

// docs/reading.md tells of every kind of damage, and every reason is about one. With -update it is
// measured and written anew, and a damage that is read too seldom needs a reason.
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
				t.Errorf("%s: %.1f %% of the calls are read; docs/%s must say why (seed %d shows it)", id, 100*row.Rate(), missesFile, row.Example)
			case row.Rate() >= wanted && why[id] != "":
				t.Errorf("%s: %.1f %% of the calls are read; drop its reason from docs/%s", id, 100*row.Rate(), missesFile)
			}
		}
		if t.Failed() {
			return
		}
		ruletest.Must(t, os.WriteFile(docs(pageFile), []byte(m.page(why)), 0o644))
		ruletest.Must(t, os.WriteFile(docs(pictureFile), []byte(SVG(m.kept, &m.shipped)), 0o644))
	}
	page, err := os.ReadFile(docs(pageFile))
	ruletest.Must(t, err)
	for _, op := range noise.Operators() {
		if !strings.Contains(string(page), "| `"+op.ID+"` |") {
			t.Errorf("docs/%s does not tell of %s; write it anew with: make reading", pageFile, op.ID)
		}
	}
}

func (m *measured) page(why map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, UsualCount, m.used.All.Total("").all())
	m.weights(&b)
	m.calibration(&b)
	m.recovery(&b)
	m.others(&b)
	m.damages(&b)
	m.known(&b, why)
	m.quotations(&b)
	return b.String()
}

const head = `# How well replies are read, and how sure the reader is

Written by ` + "`make reading`" + `, which measures anew; its words stand in ` + "`sidecar/fit/page_test.go`" + `. All replies are made up: a seed
decides what the model meant and how the reply is damaged ([noise.md](noise.md)). So it is known which calls are right.

## Evidence

Control tokens and the server's own calls settle what a call is. Where they are missing or damaged, a text may be a call, or
may only show one. The reader looks for *signs*: how it is written, whether the arguments are what the tool takes, what
stands around it. Each sign has a weight in ` + "`rules/evidence.yaml`" + `. The weights of the signs that are there are added;
the *score* of a text is 1 / (1 + e^-sum), from 0 to 1. From a threshold on it runs, and from a lower one on the model is
asked what it means, once. The thresholds depend on what its tool does. ` + "`gpt-oss-executor explain`" + ` shows the addition for each text of a reply.

` + "`gpt-oss-executor reading fit`" + ` finds the weights: a logistic regression over the texts that are weighed in %d made-up
replies, of which every second one makes no call (%d texts). A weight is held to the one that was set by hand (*prior*), as
strongly as eighty texts that are half calls would hold it, and never changes its side. What few replies show keeps its prior.
Thresholds are set by hand. With replies of your own:

    gpt-oss-executor reading fit --rules my-rules --cases replies.jsonl --write

A line of that file is a reply and the calls that are meant; name no call where it only shows one:

    {"message": {"content": "…"}, "tools": ["read"], "expect": {"calls": [{"name": "read", "arguments": {"path": "a"}}]}}

`

func (m *measured) weights(b *strings.Builder) {
	prior := parse.Prior()
	fmt.Fprintf(b, "| sign | by hand | fitted | calls with it | other texts with it |\n|---|---:|---:|---:|---:|\n")
	for s := range parse.Count {
		n := m.used.All.With(s)
		fmt.Fprintf(b, "| `%v` | %.1f | %.1f | %d | %d |\n", s, prior.Of[s], m.shipped.Of[s], n.Calls, n.Texts)
	}
	fmt.Fprintf(b, "\nA sign with few texts is one that made-up replies hardly show: its weight is an opinion, not a measurement.\n\n")
}

func (m *measured) calibration(b *strings.Builder) {
	log, square := m.kept.Loss(&m.shipped)
	fmt.Fprintf(b, "## What a score is worth\n\nOn %d texts of replies that were not used to fit: logarithmic loss %.4f, Brier score %.4f.\nThe bar is the share of calls among the texts of a score, the mark what the score says.\n\n![share of calls by score](%s)\n",
		m.kept.Total("").all(), log, square, pictureFile)
	for _, class := range Classes() {
		curve := m.kept.Curve(&m.shipped, class)
		fmt.Fprintf(b, "\nClass `%s`, %d texts; on average %.1f %% apart:\n\n", class, m.kept.Total(class).all(), 100*Off(curve))
		for i := range curve {
			fmt.Fprintf(b, "    %s\n", curve[i].String())
		}
	}
	fmt.Fprintf(b, "\n| class | runs from | texts that run | of these calls |\n|---|---:|---:|---:|\n")
	for _, class := range Classes() {
		n := m.kept.From(&m.shipped, class, m.shipped.Run.Of(class))
		fmt.Fprintf(b, "| `%s` | %.2f | %d | %.2f %% |\n", class, m.shipped.Run.Of(class), n.all(), 100*float64(n.Calls)/float64(max(1, n.all())))
	}
	fmt.Fprintf(b, "\nThe others are calls with a wrong value or of a reply that quotes one. `TestShippedWeights` fails if the weights in the\nfile are not what a fit gives, or a class is more than %.0f %% apart.\n\n", 100*farthest)
}

func (m *measured) recovery(b *strings.Builder) {
	fmt.Fprintf(b, "## Calls that are read\n\n%d replies for each line. *Asked again*: refused with a reason, so the model makes the call anew.\n\n", chainCount)
	fmt.Fprintf(b, "| damages | read | asked again | wrong value | false calls | reads | writes | executes |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, n := range slices.Sorted(maps.Keys(m.chains)) {
		row, of := m.chains[n], m.classes[n]
		fmt.Fprintf(b, "| %d | %s | %s | %d | %d | %s | %s | %s |\n", n, rate(row), percent(row.AskedAgain, row.Owed), row.WrongValue, sum(row.False),
			rate(of[noise.Reads]), rate(of[noise.Writes]), rate(of[noise.Executes]))
	}
	b.WriteString("\n")
}

func (m *measured) others(b *strings.Builder) {
	fmt.Fprintf(b, "## Other models\n\nModels that write the same wire format slip in other ways, and oftener. A mix has a rate for each damage, from public\nreports (`internal/noise/mix.go`). They are read with the same weights; %d replies with calls, %d without.\n\n", chainCount, negativeCount)
	fmt.Fprintf(b, "| mix | read | asked again | wrong value | false calls | reads | writes | executes | false calls where there is none |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, mix := range noise.Mixes() {
		of := m.mixes[mix.ID]
		row, none := of["all"], of["none"]
		fmt.Fprintf(b, "| `%s`: %s | %s | %s | %d | %d | %s | %s | %s | %d |\n", mix.ID, mix.About, rate(*row), percent(row.AskedAgain, row.Owed), row.WrongValue, sum(row.False),
			rate(*of[string(noise.Reads)]), rate(*of[string(noise.Writes)]), rate(*of[string(noise.Executes)]), sum(none.False))
	}
	b.WriteString("\n")
}

func (m *measured) damages(b *strings.Builder) {
	var all, left noise.Row
	moved := 0
	for id, row := range m.alone {
		all.Owed, all.Recovered = all.Owed+row.Owed, all.Recovered+row.Recovered
		out := m.leftOut[id]
		left.Owed, left.Recovered = left.Owed+out.Owed, left.Recovered+out.Recovered
		if m.moved[id] {
			moved++
		}
	}
	fmt.Fprintf(b, "## By damage\n\n%d replies with this damage and no other. *Left out* is the same with weights fitted without any reply that has the\ndamage: what would a kind cost that nobody has thought of? All in all %s are read, left out %s. It tells of the weights\nonly, which change for %d of %d kinds: how a call is found does not forget.\n\n", aloneCount, rate(all), rate(left), moved, len(m.alone))
	fmt.Fprintf(b, "| damage | what it does | read | asked again | left out |\n|---|---|---:|---:|---:|\n")
	ops := noise.Operators()
	slices.SortStableFunc(ops, func(x, y noise.Operator) int {
		a, c := m.alone[x.ID], m.alone[y.ID]
		return cmp.Or(cmp.Compare(a.Rate(), c.Rate()), cmp.Compare(x.ID, y.ID))
	})
	for _, op := range ops {
		row := m.alone[op.ID]
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", op.ID, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(op.About), rate(row), percent(row.AskedAgain, row.Owed), rate(m.leftOut[op.ID]))
	}
	b.WriteString("\n")
}

func (m *measured) known(b *strings.Builder, why map[string]string) {
	fmt.Fprintf(b, "## Known misses\n\nDamages after which fewer than %.0f %% of the calls are read in the first reply, and why.\n\n", 100*wanted)
	for _, id := range slices.Sorted(maps.Keys(why)) {
		row := m.alone[id]
		fmt.Fprintf(b, "- `%s` (%s, seed %d): %s\n", id, rate(row), row.Example, why[id])
	}
	b.WriteString("\n")
}

func (m *measured) quotations(b *strings.Builder) {
	all := *m.negatives["all"]
	fmt.Fprintf(b, "## Replies without a call\n\n%d replies that quote, explain, refuse or invent calls, or answer in JSON, with 0 to 4 damages. %d calls were read in them:\n%d of tools that read, %d that write, %d that execute.\n\n", negativeCount, sum(all.False), all.False[noise.Reads], all.False[noise.Writes], all.False[noise.Executes])
	b.WriteString("Of `json-arguments` and `json-object`, where the user wants an object and it fits a tool, the model is asked what it is: the\ntext is lost in the first reply alone. A request with a `response_format` gets it at once.\n\n")
	fmt.Fprintf(b, "| kind | replies | false calls: reads | writes | executes | text lost | seed |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, key := range slices.Sorted(maps.Keys(m.negatives)) {
		id, is := strings.CutPrefix(key, "negative ")
		if !is {
			continue
		}
		row, seed := m.negatives[key], "–"
		if row.Example > 0 {
			seed = fmt.Sprint(row.Example)
		}
		fmt.Fprintf(b, "| `%s` | %d | %d | %d | %d | %d | %s |\n", id, row.Cases, row.False[noise.Reads], row.False[noise.Writes], row.False[noise.Executes], row.Lost, seed)
	}
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
