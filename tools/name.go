package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Match is the tool that a name means. Tool is nil in an open catalog. Deferred is the hidden tool to
// call if Tool is the gateway's own "tool_call".
type Match struct {
	Tool     *Tool
	Name     string
	Deferred string
	Repairs  []Repair
}

// step is one way to recognise a name.
type step struct {
	kind string // of its repair
	find func(c *Catalog, name string) nameMatches
}

// nameMatches are the tools that a step found, and its rule.
type nameMatches struct {
	tools    []*Tool
	deferred string
	rule     string
}

// plainSteps take a name as it stands, surest first.
var plainSteps = [...]step{
	{"name.case", (*Catalog).byName},
	{"name.case", (*Catalog).byBareKey},
	{"name.deferred", (*Catalog).byDeferred},
	{"name.alias", (*Catalog).byAlias},
	{"name.namespace", (*Catalog).byNamespace},
}

// boldSteps follow if no plain step finds a tool.
var boldSteps = [...]step{
	{"name.repeated", (*Catalog).byRepetition},
	{"name.count", (*Catalog).byCount},
	{"name.namespace", (*Catalog).byServer},
	{"name.glued", (*Catalog).byGlued},
	{"name.glued", (*Catalog).byScript},
	{"name.near", (*Catalog).byNearness},
}

// Name returns the tool that raw means. An exact name wins; then raw is cleaned and each step is tried
// in turn. The first that finds one tool decides, and one that finds several refuses: nothing is chosen
// by chance.
func (c *Catalog) Name(raw string) (Match, *Refusal) {
	if t := c.exact(raw); t != nil {
		return Match{Tool: t, Name: t.Name}, nil
	}
	name := cleanName(c.rules.subscriptToDot(raw))
	if whole, odd := c.rules.oddSpelling(raw); odd { // dashes may be junk, or the name's own
		if found := c.byKey(whole); len(found.tools) == 1 {
			return Match{Name: raw}.choose("name.case", found)
		}
	}
	short, place := c.rules.stripPrefixes(name)
	m := Match{Name: short}
	if short != raw {
		m.Repairs = append(m.Repairs, renamed("name.clean", raw, short, place))
	}
	if c.open {
		return m, wellFormed(raw, short)
	}
	for _, spelling := range [...]string{name, short} {
		if t := c.exact(spelling); t != nil {
			return Match{Tool: t, Name: t.Name, Repairs: []Repair{renamed("name.clean", raw, t.Name, place)}},
				nil
		}
	}
	for _, s := range plainSteps {
		if found := s.find(c, short); len(found.tools) > 0 {
			return m.choose(s.kind, found)
		}
	}
	if refusal := c.noTool(raw, short); refusal != nil {
		return Match{}, refusal
	}
	for _, s := range boldSteps {
		if found := s.find(c, short); len(found.tools) > 0 {
			return m.choose(s.kind, found)
		}
	}
	return Match{}, c.notOffered(short)
}

// choose returns the match if a step found exactly one tool.
func (m Match) choose(kind string, found nameMatches) (Match, *Refusal) {
	if len(found.tools) > 1 {
		return Match{}, &Refusal{Code: Ambiguous, Name: m.Name,
			Why: fmt.Sprintf("%q could be %s; use the exact name", m.Name, quoted(names(found.tools)))}
	}
	m.Repairs = append(m.Repairs, renamed(kind, m.Name, found.tools[0].Name, found.rule))
	m.Tool, m.Name, m.Deferred = found.tools[0], found.tools[0].Name, found.deferred
	return m, nil
}

// headerWords are the words of a Harmony header, which mean no tool unless one of that name is offered
// (openai/harmony, docs/format.md: roles and channels).
var headerWords = [...]string{
	"assistant", "user", "system", "developer", "tool", "analysis", "commentary", "final",
	"assistantanalysis", "assistantcommentary", "assistantfinal",
}

// IsRole reports whether a recipient is a role or all, not a tool: a message to it is no call without a
// name.
func IsRole(name string) bool {
	switch strings.ToLower(name) {
	case "assistant", "user", "system", "developer", "all":
		return true
	}
	return false
}

// noTool refuses names that mean no tool: an empty one, a header word, the id of an earlier call, or a
// rule's word for the answer.
func (c *Catalog) noTool(raw, name string) *Refusal {
	word := name
	if word == "" {
		word = nameRun(anyToken.ReplaceAllString(raw, ""))
	}
	if all := anyToken.FindAllStringIndex(raw, -1); len(all) > 0 && IsRole(word) {
		word = nameRun(raw[all[len(all)-1][1]:]) // a whole header: assistant<|channel|>final
	}
	for _, p := range c.rules.Pseudo {
		if word != "" && key(word) == key(p.Text) {
			return &Refusal{Code: Answer, Name: word,
				Why: fmt.Sprintf("%q is no tool; what was sent to it is the answer", word)}
		}
	}
	if IsRole(raw) {
		return &Refusal{Code: NotOffered, Name: raw, Why: fmt.Sprintf("%q is no tool; %s", raw, c.choice())}
	}
	if name == "" || isCallID(name) || slices.Contains(headerWords[:], key(name)) {
		return &Refusal{Code: BadName, Name: scan.Head(raw, 80), Why: fmt.Sprintf("%q names no tool; %s",
			scan.Head(raw, 80), c.choice())}
	}
	return nil
}

// wellFormed refuses what cannot be a name of an unknown tool.
func wellFormed(raw, name string) *Refusal {
	const maxWords = 6 // ReAct tools may be called "Ask question to senior researcher"
	if name == "" || strings.Count(name, " ") >= maxWords {
		return &Refusal{Code: BadName, Name: scan.Head(raw, 80), Why: fmt.Sprintf("%q names no tool",
			scan.Head(raw, 80))}
	}
	return nil
}

// isCallID reports whether name is the id of a call, which models sometimes address:
// toolu_mrt95z3708ktmu, call_98a1uqe2.
func isCallID(name string) bool {
	for _, prefix := range [...]string{"toolu_", "call_", "chatcmpl-tool-", "fc_"} {
		if id, ok := strings.CutPrefix(name, prefix); ok && len(id) >= 6 &&
			strings.ContainsAny(id, "0123456789") {
			return !strings.ContainsAny(id, " ./:")
		}
	}
	return false
}

// isBuiltin reports whether name is a tool that gpt-oss was trained with (openai/harmony: python,
// browser.*; openai/codex: container.*), which a request must offer.
func isBuiltin(name string) bool {
	space, _, _ := strings.Cut(name, ".")
	return space == "python" || space == "browser" || space == "container"
}

func (c *Catalog) notOffered(name string) *Refusal {
	why := fmt.Sprintf("no tool %q is offered; %s", name, c.choice())
	if isBuiltin(name) {
		why = fmt.Sprintf("%q is not available here; %s", name, c.choice())
	}
	return &Refusal{Code: NotOffered, Name: name, Why: why}
}

// choice tells the model its options, in one clause.
func (c *Catalog) choice() string {
	const most = 12
	all := c.Names()
	switch {
	case len(all) == 0:
		return "no tools are offered: answer in text"
	case len(all) > most:
		return fmt.Sprintf("use one of %s and %d more, or answer in text", quoted(all[:most]), len(all)-most)
	}
	return "use one of " + quoted(all) + ", or answer in text"
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }

func names(tools []*Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

func renamed(kind, from, to, rule string) Repair {
	return Repair{Kind: kind, From: scan.Head(from, 80), To: scan.Head(to, 80), Rule: rule}
}
