package ruleset

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// patternRule is the part pattern of a strategy: a call format in expressions.
type patternRule struct {
	Open  []rulefile.Text `rule:"open,required" doc:"Literals that begin a call, in upper or lower case. {tool} stands for an offered tool." eg:"['<tool_call>']"`
	Close []string        `rule:"close" doc:"Literals that end a call. {tool} stands for an offered tool." eg:"['</tool_call>']"`
	Until *rulefile.Text  `rule:"until" one:"line reply" doc:"Where a call without close ends: with its line, or with the reply."`
	Line  bool            `rule:"line_start" doc:"true means that a call begins only at the start of a line."`
	Find  rulefile.Text   `rule:"find,required" doc:"A pattern of a call, from its first literal on. The group tool is its name, the group args its arguments." eg:"'<call>(?P<tool>[a-z_]+)(?P<args>.*)</call>'"`
	Each  *rulefile.Text  `rule:"each" doc:"A pattern of one argument in the group args, with the groups key and value. If left out, args is JSON." eg:"'(?P<key>[a-z_]+)=(?P<value>.*?);'"`
	Tool  string          `rule:"tool" doc:"The tool that is called, if find has no group tool." eg:"exec"`
}

// matcher compiles the expressions of a pattern and checks that they fit together.
func (l *loader) matcher(r patternRule) parse.Matcher {
	m := parse.Matcher{Tool: r.Tool}
	if r.Until != nil {
		m.Until = parse.Until(r.Until.Value)
		if len(r.Close) > 0 {
			l.report(r.Until.All(), rulefile.CodeValue, "until does not go with close",
				"leave one of the two out")
		}
	}
	if r.Find.Value == "" { // reported already
		return m
	}
	m.Find = l.finder(r.Find, "find", "tool", "args")
	if m.Find != nil && r.Tool == "" && m.Find.SubexpIndex("tool") < 0 && !allNamed(values(r.Open)) {
		l.report(r.Find.All(), rulefile.CodeMissing, "the pattern does not say which tool is called",
			"give find a group (?P<tool>…), or add the key tool")
	}
	if r.Each == nil {
		return m
	}
	m.Each = l.finder(*r.Each, "each", "key", "value")
	if m.Each != nil && m.Each.SubexpIndex("key") < 0 {
		l.report(r.Each.All(), rulefile.CodeMissing, "each needs a group named key",
			"write (?P<key>…) around the name of an argument")
	}
	if m.Find != nil && m.Find.SubexpIndex("args") < 0 {
		l.report(r.Find.All(), rulefile.CodeMissing, "each reads the group args, and find has no such group",
			"write (?P<args>…) around all arguments of a call")
	}
	return m
}

// anyCase lets the expressions of a pattern find what its literals opened, in upper
// or lower case, and a dot stand for a line break, too.
const anyCase = "(?is)"

// finder compiles an expression that is run again and again, and whose groups
// have some of these names.
func (l *loader) finder(t rulefile.Text, key string, groups ...string) *regexp.Regexp {
	re := l.pattern(t, anyCase)
	if re == nil {
		return nil
	}
	good := l.groups(t, re, key, groups)
	if re.MatchString("") {
		l.report(t.All(), cond.CodeRegexp, key+" fits the empty text, so it fits everywhere",
			"begin it with something that must stand there")
	}
	if !good { // what else is lacking follows from the wrong name
		return nil
	}
	return re
}

// groups checks that the groups of an expression have some of these names.
func (l *loader) groups(t rulefile.Text, re *regexp.Regexp, key string, names []string) (good bool) {
	good = true
	for _, name := range re.SubexpNames() {
		if name != "" && !slices.Contains(names, name) {
			good = false
			before, _, _ := strings.Cut(t.Value, "<"+name+">")
			from := len([]rune(before)) + 1
			l.report(t.Span(from, from+len([]rune(name))), cond.CodeRegexp,
				"no group of "+key+" is called "+name, rulefile.DidYouMean(name, names))
		}
	}
	return good
}

// allNamed says that every opening literal holds the name of the tool.
func allNamed(open []string) bool {
	return !slices.ContainsFunc(open, func(lit string) bool { return !strings.Contains(lit, parse.ToolName) })
}
