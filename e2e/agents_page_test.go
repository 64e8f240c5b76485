package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// agentsFile holds what TestAgents finds, behind this line.
const (
	agentsFile = "../docs/agents.md"
	agentsLine = "<!-- make agents writes what follows -->\n"
)

// TestAgentsPage: the page is about these agents in these versions, and about these turns. What stands in its
// cells is checked by TestAgents.
func TestAgentsPage(t *testing.T) {
	_, tables := agentsPage(t)
	for _, a := range agents() {
		if !strings.Contains(tables, "\n| "+a.title+" | "+a.version(t)+" |") {
			t.Errorf("%s does not have %s %s: run make agents", agentsFile, a.title, a.version(t))
		}
		for _, s := range agentTurns(a) {
			row := rowOf(tables, s)
			if len(row) != len(agents()) {
				t.Errorf("%s has no row %q with all agents: run make agents", agentsFile, s.title())
			}
			for _, cell := range row {
				if wordsWith(cell) == "" {
					t.Errorf("%s: the cell %q of row %q has no words: run make agents", agentsFile, cell, s.title())
				}
			}
		}
	}
}

// agentsPage is the page: what is written by hand, and what make agents writes.
func agentsPage(t *testing.T) (head, tables string) {
	t.Helper()
	page, err := os.ReadFile(agentsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, tables, _ = strings.Cut(string(page), agentsLine)
	return head, tables
}

// version is the one of the agent's package.
func (a agent) version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.folder(), "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names struct{ Dependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(text, &names); err != nil {
		t.Fatal(err)
	}
	for _, packages := range []map[string]string{names.Dependencies, names.OptionalDependencies} {
		for _, version := range packages {
			return version // the package for each system has the same one
		}
	}
	t.Fatalf("%s has no package", a.folder())
	return ""
}

// compareAgents holds what came of trials against the page, or writes it.
func compareAgents(t *testing.T, trials []*agentTrial) {
	head, tables := agentsPage(t)
	if *update {
		write(t, agentsFile, head+agentsLine+agentTables(t, tables, trials))
		return
	}
	for _, c := range trials {
		at := slices.IndexFunc(agents(), func(a agent) bool { return a.id == c.agent.id })
		if says := wordsWith(rowOf(tables, c.scenario)[at]); says != c.words() {
			t.Errorf("%s: %s, and %s says %q: run make agents\n%.4000s", c.name(), c.words(), agentsFile,
				says, c.out.raw)
		}
	}
}

// wordsWith is what a cell says of the sidecar, without the number of requests.
func wordsWith(cell string) string {
	m := regexp.MustCompile(`^(?:.*→|[↑=↓] )([^()→]*) \(\d+\)$`).FindStringSubmatch(cell)
	if m == nil {
		return ""
	}
	return m[1]
}

// ranks order what may come of a turn. What is not here is 1: the work is not done, and the user sees that.
var ranks = map[string]int{
	"answered": 4, "asked again, answered": 3, "thought lost": 3, "told why": 2, "error with the reason": 2,
	"half an answer": 0, "never ends": 0, "ran a cut command": 0,
}

// oftener is said of a call that ran oftener than it should.
var oftener = regexp.MustCompile(`^ran \d+ times`)

// agentCell is a turn of an agent without the sidecar, and with it, in words.
func agentCell(alone, with *agentTrial) string {
	rank := func(c *agentTrial) int {
		n, ok := ranks[c.words()]
		if !ok && !oftener.MatchString(c.words()) {
			return 1
		}
		return n
	}
	verdict := same
	switch a, w := rank(alone), rank(with); {
	case w > a:
		verdict = better
	case w < a:
		verdict = worse
	}
	said := func(c *agentTrial) string { return fmt.Sprintf("%s (%d)", c.words(), c.out.asked) }
	if said(alone) == said(with) {
		return verdict + said(with)
	}
	return verdict + said(alone) + "→" + said(with)
}

// What a cell begins with.
const (
	better = "↑ "
	same   = "= "
	worse  = "↓ "
)

// agentTables are what make agents writes: cells of trials, and those of the page for agents that did not
// run. A turn that is worse with the sidecar must have a reason, and no other.
func agentTables(t *testing.T, old string, trials []*agentTrial) string {
	cells := map[string]string{}
	for i, a := range agents() {
		for _, s := range agentTurns(a) {
			if row := rowOf(old, s); i < len(row) {
				cells[a.id+"/"+s.id] = row[i]
			}
		}
	}
	alone := map[string]*agentTrial{}
	for _, c := range trials {
		switch key := c.agent.id + "/" + c.scenario.id; {
		case c.alone:
			alone[key] = c
		case alone[key] != nil:
			cells[key] = agentCell(alone[key], c)
		}
	}
	var counts, table, reasons strings.Builder
	counts.WriteString("\n| agent | version | better | same | worse |\n|---|---|--:|--:|--:|\n")
	table.WriteString("\n| the model server sends |")
	for _, a := range agents() {
		n := map[string]int{}
		for _, s := range agentTurns(a) {
			for _, verdict := range []string{better, same, worse} {
				if strings.HasPrefix(cells[a.id+"/"+s.id], verdict) {
					n[verdict]++
				}
			}
		}
		fmt.Fprintf(&counts, "| %s | %s | %d | %d | %d |\n", a.title, a.version(t), n[better], n[same],
			n[worse])
		fmt.Fprintf(&table, " %s |", a.title)
	}
	table.WriteString("\n|" + strings.Repeat("---|", 1+len(agents())) + "\n")
	why := worseBecause()
	for _, s := range agentTurns(agents()[0]) {
		table.WriteString(s.title())
		for _, a := range agents() {
			key := a.id + "/" + s.id
			table.WriteString(" " + cmp.Or(cells[key], "–") + " |")
			switch bad := strings.HasPrefix(cells[key], worse); {
			case bad && why[key] == "":
				t.Errorf("%s is worse with the sidecar, and worseBecause does not say why", key)
			case !bad && cells[key] != "" && why[key] != "":
				t.Errorf("%s is not worse with the sidecar: remove its reason from worseBecause", key)
			case bad:
				fmt.Fprintf(&reasons, "- %s, `%s`: %s\n", a.title, s.id, why[key])
			}
		}
		table.WriteString("\n")
	}
	out := counts.String() + table.String()
	if reasons.Len() > 0 {
		out += "\nWhy some turns are worse:\n\n" + reasons.String()
	}
	return out
}
