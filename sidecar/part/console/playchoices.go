package console

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// choice is an option of a list.
type choice struct {
	pair
	Here bool
}

// optionsOf makes options of pairs of values and texts.
func optionsOf(is string, list ...pair) (out []choice) {
	for _, p := range list {
		out = append(out, choice{p, p.Name == is})
	}
	return out
}

// plainOptions makes options whose texts are their values.
func plainOptions(is string, values []string) (out []choice) {
	for _, v := range values {
		out = append(out, choice{pair{v, v}, v == is})
	}
	return out
}

// Kinds returns what can be read.
func (p *playground) Kinds() []choice {
	return optionsOf(p.Form.What, pair{"reply", "a reply of the model"}, pair{command, "a command"},
		pair{Path, "a path"}, pair{URL, "an address (URL)"})
}

// Toolings returns the possible sources of tools.
func (p *playground) Toolings() []choice {
	list := []pair{{"three", "exec, read, write"}, {"list", "a list"},
		{"any", "not known: any name is a tool"}}
	if p.Form.Turn != "" {
		list = append([]pair{{"turn", "those of the turn"}}, list...)
	}
	return optionsOf(p.Form.Tools, list...)
}

// Finishes returns the reasons for the end of a reply.
func (p *playground) Finishes() []choice {
	return optionsOf(p.Form.Finish, pair{"", "as the reply says"}, pair{"stop", "stop"},
		pair{"tool_calls", "tool_calls"}, pair{"length", "length"}, pair{"content_filter", "content_filter"})
}

// Profiled returns the profiles of the strategies.
func (p *playground) Profiled() []choice {
	is := p.Form.Profile
	if is == "" {
		is = ruleset.DefaultProfile
	}
	return plainOptions(is, p.Profiles)
}

// Choices returns the files of the folder.
func (p *playground) Choices() []choice { return plainOptions(p.Form.Of, p.Files) }

// Ready reports whether the draft can be published.
func (p *playground) Ready() bool {
	return p.Checked.Changed && p.Checked.Set != nil && !p.Checked.Failing
}

// AliasFile returns the file with the names of tools.
func (*playground) AliasFile() string { return aliasFile }

// ruleHref returns the page that edits a rule, by its place; empty: the rule is not in the folder.
func ruleHref(place string) string {
	file, line, ok := strings.Cut(place, ":")
	line, _, _ = strings.Cut(line, ":") // a column may follow
	n, err := strconv.Atoi(line)
	if !ok || err != nil || !rulefile.IsRuleFile(file) {
		return ""
	}
	return fmt.Sprintf("%splayground?file=%s&line=%d", Root, url.QueryEscape(file), n)
}

// Try returns the playground with a reply of the turn.
func (t *turnView) Try(reply int) string {
	return tryPath(t.ID, reply)
}
