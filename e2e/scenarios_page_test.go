package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false,
	"run the scenarios or agents without the sidecar, too, and write their page anew")

// scenariosFile holds what TestScenarios finds, behind this line.
const (
	scenariosFile = "../docs/scenarios.md"
	scenariosLine = "<!-- make scenarios writes what follows -->\n"
)

// well are the ends that leave nothing to wish for.
var well = []string{"answered", "asked again, answered", "told why", "error with the reason"}

// TestScenarios replays what goes wrong between a model server and a real gateway. With the sidecar
// in between all of it ends well, as the page says; without it, the page says what comes of it.
func TestScenarios(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	var trials []*trial
	for i, s := range scenarios() {
		for _, col := range columns {
			c := &trial{scenario: s, column: col}
			// how a fault is met does not depend on the API, only how it is told
			seldom := col.api != apis[0] && i%2 > 0
			if c.possible() && (*update || !c.alone && !c.elsewhere && !seldom) {
				trials = append(trials, c)
			}
		}
	}
	setStage(t, trials).play(t, trials)
	for _, c := range trials {
		t.Logf("%s: %s; ran %d, asked %d, %v, %d %.200q", c.name(), c.words(), c.out.ran, c.out.asked,
			c.out.took.Round(100*time.Millisecond), c.out.status, c.out.text)
		if !c.alone && !slices.Contains(well, c.words()) {
			t.Errorf("%s ends badly: %s: ran %d times, asked %d times, %v, the user got %d %s", c.name(),
				c.words(), c.out.ran, c.out.asked, c.out.err, c.out.status, c.out.raw)
		}
	}
	page, err := os.ReadFile(scenariosFile)
	if err != nil {
		t.Fatal(err)
	}
	head, tables, _ := strings.Cut(string(page), scenariosLine)
	if *update {
		write(t, scenariosFile, head+scenariosLine+written(trials))
		return
	}
	for _, s := range scenarios() {
		if len(ends(rowOf(tables, s))) != len(columns) {
			t.Fatalf("%s has no row %q: run make scenarios", scenariosFile, s.title())
		}
	}
	for _, c := range trials {
		at := slices.IndexFunc(columns, func(col column) bool { return col.id == c.column.id })
		if says := ends(rowOf(tables, c.scenario))[at]; says != c.words() && !c.slow {
			t.Errorf("%s: %s, and the page says %s: run make scenarios", c.name(), c.words(), says)
		}
	}
}

// possible reports whether the API has such a fault. The sidecar asks for chats in any case.
func (c *trial) possible() bool { return !c.chat || !c.alone || c.api == apis[0] }

func (s scenario) title() string {
	return "| `" + s.id + "` " + strings.ReplaceAll(s.about, "|", "\\|") + " |"
}

// rowOf are the cells of a scenario.
func rowOf(tables string, s scenario) []string {
	_, rest, ok := strings.Cut(tables, "\n"+s.title())
	line, _, _ := strings.Cut(rest, "\n")
	if !ok {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// ends are how a scenario ends, one for each column: a cell says both APIs, once if they are the same.
func ends(cells []string) (out []string) {
	for _, cell := range cells {
		chat, responses, differ := strings.Cut(cell, " / ")
		if !differ {
			responses = chat
		}
		out = append(out, chat, responses)
	}
	return out
}

// written are the tables of the page.
func written(trials []*trial) string {
	found := map[string]string{}
	good, all := map[string]int{}, map[string]int{}
	for _, c := range trials {
		found[c.name()] = c.words()
		all[c.column.id]++
		if slices.Contains(well, c.words()) {
			good[c.column.id]++
		}
	}
	var b strings.Builder
	b.WriteString("\n| | scenarios | end well |\n|---|--:|--:|\n")
	for _, col := range columns {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", col.title, all[col.id], good[col.id])
	}
	kind := -1
	for _, s := range scenarios() {
		if s.kind != kind {
			kind = s.kind
			fmt.Fprintf(&b, "\n## %s\n\n| the model server sends | gateway alone | with the sidecar |\n|---|---|---|\n", scenarioKinds[kind])
		}
		b.WriteString(s.title())
		for i, col := range columns {
			words := cmp.Or(found[(&trial{scenario: s, column: col}).name()], "–")
			switch {
			case i%2 == 0:
				b.WriteString(" " + words)
			case words != cmp.Or(found[(&trial{scenario: s, column: columns[i-1]}).name()], "–"):
				b.WriteString(" / " + words + " |")
			default:
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
