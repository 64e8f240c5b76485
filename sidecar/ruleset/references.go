package ruleset

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools/refer"
)

// referencesDoc is references.yaml.
type referencesDoc struct {
	rulefile.Head
	Arguments []ReferenceRule   `rule:"arguments,required" doc:"Which arguments are looked at. The first entry that fits a tool and a name counts."`
	Lists     []string          `rule:"lists" doc:"Tools whose results are lists, the best first." eg:"[web_search]"`
	Files     []string          `rule:"files" doc:"Endings that make a name a file, and no address." eg:"[md, txt]"`
	Words     referenceWords    `rule:"words,required" doc:"The words of arguments that stand for something said earlier."`
	Hit       referenceExamples `rule:"hit" doc:"Arguments that stand for something else."`
	Miss      referenceExamples `rule:"miss" doc:"Arguments that say themselves what is meant."`
}

// ReferenceRule says what happens to arguments that refer to something said earlier.
type ReferenceRule struct {
	At      rulefile.Place
	Tools   []string `rule:"tools,required" doc:"The tools, or '*' for every tool." eg:"[web_fetch]"`
	Names   []string `rule:"names,required" doc:"The arguments." eg:"[url]"`
	Kind    string   `rule:"kind,required" one:"url path" doc:"What the arguments are."`
	Resolve string   `rule:"resolve,required" one:"refuse one first" doc:"refuse: the call does not run. one: the only thing that can be meant is taken. first: as one, or the first of a list. Tools that write or execute always get refuse."`
	HTTPS   bool     `rule:"https" doc:"true puts https:// before an address that lacks it."`
}

type referenceWords struct {
	URL     []string       `rule:"url" doc:"A URL is meant." eg:"[link, page]"`
	Path    []string       `rule:"path" doc:"A file is meant." eg:"[file, folder]"`
	Result  []string       `rule:"result" doc:"Either is meant." eg:"[result]"`
	Earlier []string       `rule:"earlier" doc:"Where it stands." eg:"[above, previous]"`
	Blank   []string       `rule:"blank" doc:"It was left to be filled in." eg:"[insert, todo]"`
	Many    []string       `rule:"many" doc:"It cannot be told which one is meant." eg:"[all, next]"`
	Step    []string       `rule:"step" doc:"The number beside it counts calls." eg:"[step]"`
	Order   map[string]int `rule:"order" min:"1" max:"1000" doc:"Which one is meant, from 1." eg:"{first: 1}"`
	Glue    []string       `rule:"glue" doc:"It says nothing." eg:"[the, of]"`
}

type referenceExamples struct {
	URL  []rulefile.Text `rule:"url" doc:"Of arguments that are URLs."`
	Path []rulefile.Text `rule:"path" doc:"Of arguments that are paths."`
}

// References are the rules for arguments that refer to something said earlier.
type References struct {
	Words refer.Words
	Files []string // extensions of names that are no addresses
	rules []ReferenceRule
	lists []string
}

// Of returns the rules for a tool, by the names of its arguments in the order of the file.
func (r *References) Of(tool string) (names []string, rules []ReferenceRule) {
	for _, rule := range r.rules {
		if !slices.Contains(rule.Tools, tool) && !slices.Contains(rule.Tools, every) {
			continue
		}
		for _, name := range rule.Names {
			if !slices.Contains(names, name) {
				names, rules = append(names, name), append(rules, rule)
			}
		}
	}
	return names, rules
}

// List reports whether the results of a tool are lists.
func (r *References) List(tool string) bool { return slices.Contains(r.lists, tool) }

// references reads references.yaml.
func (l *loader) references() {
	f := decodeFile[referencesDoc](l, referencesFile)
	Unused(&Reader{l: l}, f.Arguments, func(r ReferenceRule) rulefile.Place { return r.At },
		func(first, r ReferenceRule) bool {
			return slices.Contains(first.Tools, every) && !slices.ContainsFunc(r.Names,
				func(name string) bool { return !slices.Contains(first.Names, name) })
		})
	words := refer.Words{}
	for _, of := range []struct {
		role  refer.Role
		words []string
	}{
		{refer.Noun, f.Words.URL}, {refer.Noun, f.Words.Path}, {refer.Noun, f.Words.Result}, {refer.Earlier, f.Words.Earlier},
		{refer.Blank, f.Words.Blank}, {refer.Many, f.Words.Many}, {refer.Step, f.Words.Step}, {refer.Glue, f.Words.Glue},
	} {
		for _, w := range of.words {
			words[strings.ToLower(w)] = refer.Word{Role: of.role}
		}
	}
	for w, nth := range f.Words.Order {
		words[strings.ToLower(w)] = refer.Word{Role: refer.Order, Nth: nth}
	}
	l.set.References = References{Words: words, Files: f.Files, rules: f.Arguments, lists: f.Lists}
	for _, ex := range []struct {
		texts []rulefile.Text
		kind  refer.Kind
		want  bool
	}{{f.Hit.URL, refer.URL, true}, {f.Hit.Path, refer.Path, true}, {f.Miss.URL, refer.URL, false},
		{f.Miss.Path, refer.Path, false}} {
		l.examples = append(l.examples, func() { l.tryReferences(words, ex.texts, ex.kind, ex.want) })
	}
}

func (l *loader) tryReferences(words refer.Words, texts []rulefile.Text, kind refer.Kind, want bool) {
	for _, t := range texts {
		if _, got := words.Read(t.Value, kind); got != want {
			msg := "this argument says itself what is meant, by the words of this file"
			if got {
				msg = "this argument stands for something else, by the words of this file"
			}
			l.report(t.All(), codeExample, msg, "")
		}
	}
}
