package console

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// choice is one of a list, and whether it is the chosen one.
type choice struct {
	pair
	Here bool
}

// chosen makes a list of pairs of values and words.
func chosen(is string, list ...pair) (out []choice) {
	for _, p := range list {
		out = append(out, choice{p, p.Name == is})
	}
	return out
}

// plain is a list whose values are its words.
func plain(is string, values []string) (out []choice) {
	for _, v := range values {
		out = append(out, choice{pair{v, v}, v == is})
	}
	return out
}

// Kinds are what can be read.
func (p *playground) Kinds() []choice {
	return chosen(p.Form.What, pair{"reply", "a reply of the model"}, pair{command, "a command"},
		pair{Path, "a path"}, pair{URL, "an address (URL)"})
}

// Toolings are the tools that can be offered.
func (p *playground) Toolings() []choice {
	list := []pair{{"three", "exec, read, write"}, {"list", "a list"},
		{"any", "not known: any name is a tool"}}
	if p.Form.Turn != "" {
		list = append([]pair{{"turn", "those of the turn"}}, list...)
	}
	return chosen(p.Form.Tools, list...)
}

// Finishes are the reasons for which a reply ends.
func (p *playground) Finishes() []choice {
	return chosen(p.Form.Finish, pair{"", "as the reply says"}, pair{"stop", "stop"},
		pair{"tool_calls", "tool_calls"}, pair{"length", "length"}, pair{"content_filter", "content_filter"})
}

// Profiled are the profiles of the strategies.
func (p *playground) Profiled() []choice {
	is := p.Form.Profile
	if is == "" {
		is = ruleset.DefaultProfile
	}
	return plain(is, p.Profiles)
}

// Choices are the files of the folder.
func (p *playground) Choices() []choice { return plain(p.Form.Of, p.Files) }

// Ready reports whether the draft can be published.
func (p *playground) Ready() bool {
	return p.Checked.Changed && p.Checked.Set != nil && !p.Checked.Failing
}

// AliasFile is where names of tools stand.
func (*playground) AliasFile() string { return aliasFile }

// ruleHref is where a rule can be edited, by its place; empty: it is not in the folder.
func ruleHref(place string) string {
	file, line, ok := strings.Cut(place, ":")
	line, _, _ = strings.Cut(line, ":") // a column may stand behind it
	n, err := strconv.Atoi(line)
	if !ok || err != nil || !rulefile.IsRuleFile(file) {
		return ""
	}
	return fmt.Sprintf("%splayground?file=%s&line=%d", Root, url.QueryEscape(file), n)
}

// Try is where a reply of the turn can be tried.
func (t *turnView) Try(reply int) string {
	return tryPath(t.ID, reply)
}
