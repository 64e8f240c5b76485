package ruleset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// lintAliases warns about names that change nothing. What a name means is asked of
// the catalog itself, under fewer rules than there are.
func (l *loader) lintAliases() {
	f := doc[aliasFile](l, aliasesFile)
	for _, list := range [][]rulefile.Text{f.Prefixes, f.Glued, f.Pseudo} {
		l.lintTwice(list)
	}
	for _, tool := range f.Tools {
		var above tools.Rules
		for _, name := range tool.Value {
			l.lintAlias(tool.Key.Value, name, &above)
			above.Aliases = append(above.Aliases, alias(tool.Key.Value, name))
		}
	}
}

func alias(tool string, name rulefile.Text) tools.Alias {
	return tools.Alias{Name: name.Value, Tools: []string{tool}, Place: name.At.String()}
}

// lintAlias warns about one alias of a tool; above are those before it in the list.
func (l *loader) lintAlias(tool string, name rulefile.Text, above *tools.Rules) {
	alone := tools.Rules{Aliases: []tools.Alias{alias(tool, name)}}
	behind := tools.Rules{Aliases: alone.Aliases, Prefixes: l.set.Tools.Prefixes}
	first := byAlias(above, tool, name.Value)
	msg, hint := "", ""
	switch {
	case isOwn(tool, name.Value):
		msg, hint = name.Value+" is found as "+tool+" without this", "in a name, case, - _ and . make no difference; delete it"
	case first != "":
		msg, hint = name.Value+" stands here twice", "it stands at "+first+", too; case, - and _ make no difference"
	case byAlias(&alone, tool, name.Value) == "":
		msg, hint = fmt.Sprintf("%q is no name: it is cut down before it is looked up", name.Value), "write it as a trace shows it"
	case byAlias(&behind, tool, name.Value) == "":
		msg, hint = name.Value+" is never looked up: its beginning is one of the prefixes, and dropped before", "write it without them"
	default:
		return
	}
	l.warn(name.All(), codeShadowed, msg, hint)
}

// byAlias is the place of the alias by which a name means the tool; "" for none.
func byAlias(r *tools.Rules, tool, name string) string {
	m, refused := tools.NewCatalog(r, nil, []tools.Tool{{Name: tool}}).Name(name)
	for _, repair := range m.Repairs {
		if refused == nil && repair.Kind == "name.alias" {
			return repair.Rule
		}
	}
	return ""
}

// isOwn reports whether a name means the tool by its spelling alone.
func isOwn(tool, name string) bool {
	m, refused := tools.NewCatalog(nil, nil, []tools.Tool{{Name: tool}}).Name(name)
	return refused == nil && !slices.ContainsFunc(m.Repairs, func(r tools.Repair) bool {
		return r.Kind != "name.clean" && r.Kind != "name.case"
	})
}

// lintTwice warns about a word that a list has before, in any case.
func (l *loader) lintTwice(list []rulefile.Text) {
	first := map[string]int{}
	for _, t := range list {
		low := strings.ToLower(t.Value)
		if line, twice := first[low]; twice {
			l.warn(t.All(), codeShadowed, t.Value+" stands here twice", fmt.Sprintf("it stands in line %d, too; delete one", line))
			continue
		}
		first[low] = t.At.Line()
	}
}

// lintArguments warns about other names of arguments that change nothing or say
// two things, and about phrases that stand twice.
func (l *loader) lintArguments() {
	for _, tool := range doc[argumentFile](l, argumentsFile).Tools {
		means := map[string]rulefile.Text{}
		for _, a := range tool.Value.Arguments {
			for _, name := range a.Value {
				switch first, twice := means[name.Value]; {
				case name.Value == a.Key.Value:
					l.warn(name.All(), codeShadowed, name.Value+" is the right name itself", "delete it")
				case twice:
					l.warn(name.All(), codeShadowed, fmt.Sprintf("%s stands for %s already", name.Value, first.Value),
						fmt.Sprintf("line %d comes first; delete one of them", first.At.Line()))
				default:
					means[name.Value] = a.Key
				}
			}
		}
		l.lintPhrases(tool.Value.Phrases)
	}
}

// lintPhrases warns about words that ask for the same thing as words before.
func (l *loader) lintPhrases(rules []phraseRule) {
	alike := map[string][]rulefile.Text{} // by the shape of what is taken: the first with it decides
	for _, r := range rules {
		alike[r.As] = append(alike[r.As], r.After...)
	}
	for _, as := range []string{"sentence", "quoted", "url", "path"} {
		l.lintTwice(alike[as])
	}
}
