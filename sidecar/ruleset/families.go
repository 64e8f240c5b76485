package ruleset

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// anyFamilyFile stands for all files of the folder families.
const anyFamilyFile = rulefile.FamilyFolder + "/gpt-oss.yaml"

// familyFile is a file of the folder families: how the models of a family write replies. It is named after
// the family.
type familyFile struct {
	rulefile.Head
	About      string          `rule:"about,required" doc:"Which models these are, and where the format is described."`
	Models     []rulefile.Text `rule:"models,required" doc:"Words of the names of its models, in upper or lower case. A name may hold words of several families: the first one counts, and of two that begin at one place the longer one." eg:"[qwen, qwq]"`
	Template   []rulefile.Text `rule:"template" doc:"Texts of its chat template. Where no family knows the name of a model, the one of which the template holds all texts is taken, if it is the only one." eg:"['<|im_start|>', '<function=']"`
	Keep       []parse.Kind    `rule:"keep" one:"native harmony json lines frame drop phrases" doc:"The kinds of strategies of the profile default that read its replies, too. If left out, all do." eg:"[native, json]"`
	Strategies []strategyRule  `rule:"strategies" doc:"How the family writes calls. It is the models' own format, so text may stand in front of a call and behind it."`
	Thoughts   *familyThoughts `rule:"thoughts" doc:"How it writes thoughts into the text."`
	Never      []rulefile.Text `rule:"never" doc:"Further marks that are never shown. They are removed from the text, as are those around calls and thoughts, and special tokens within calls, wherever they stand alone or the reply ends within one. ^ in front of one says: only as the first line of a reply." eg:"['<|im_end|>']"`
	History    familyHistory   `rule:"history" doc:"How the conversation is sent back."`
	Sampling   map[string]any  `rule:"sampling" doc:"Fields of the request that its makers advise. They are set if neither the caller nor models.yaml sets them." eg:"{temperature: 0.6}"`
}

type familyThoughts struct {
	Open   []rulefile.Text `rule:"open" doc:"Literals that begin a thought at the start of a reply." eg:"['<think>']"`
	Close  []rulefile.Text `rule:"close,required" doc:"Literals that end it." eg:"['</think>']"`
	Opened bool            `rule:"opened" doc:"true says that the prompt may begin the thought, so that the reply has only its end, or is cut within it."`
	Switch string          `rule:"switch" doc:"The variable of its chat template that turns thoughts on." eg:"enable_thinking"`
}

type familyHistory struct {
	IDs       rulefile.Text `rule:"ids" doc:"The ids of calls that the model knows from its training: {name} is the tool, {n} counts the calls of the conversation from 0." eg:"'functions.{name}:{n}'"`
	OneCall   bool          `rule:"one_call" doc:"true says that its chat template takes one call of a message: of several, each further one goes into a message of its own, in front of its result."`
	Alternate bool          `rule:"alternate" doc:"true says that its chat template refuses two messages of the user, or two answers, in a row, also around calls and their results: they become one, or a short one goes in between."`
	Strict    bool          `rule:"strict" doc:"true says that its chat template does not show the model the field strict of a tool, so that set_strict of servers.yaml counts for it."`
}

// History is how a conversation is sent to the models of a family.
type History struct {
	IDs       string // of calls, with {name} and {n}; empty: unchanged
	OneCall   bool   // one call per message
	Alternate bool   // user and model take turns
	Strict    bool   // the prompt does not show the field strict of tools
}

// Family is how the models of a family write replies. Its profile has the same name.
type Family struct {
	Name     string
	About    string
	History  History
	Switch   string   // variable of its chat template that enables thoughts; empty: none
	Marks    []string // literals around its calls and thoughts, and within calls
	Sampling map[string]any

	models      []string // in lower case
	template    []string
	foreign     bool     // it has its own strategies
	open, close []string // of its thoughts
}

// Model returns a name of a model of the family.
func (f *Family) Model() string { return f.models[0] }

// Begun returns the literal at the end of a prompt that opens a thought, with one that closes it if the
// prompt has both.
func (f *Family) Begun(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	ends := func(lit string) bool { return strings.HasSuffix(prompt, strings.TrimSpace(lit)) }
	if i := slices.IndexFunc(f.open, ends); i >= 0 {
		return f.open[i]
	}
	if i := slices.IndexFunc(f.close, ends); i >= 0 && len(f.open) > 0 {
		return f.open[0] + f.close[i]
	}
	return ""
}

// FamilyByName returns the family with a word in the name of a model; nil: none.
func (s *Set) FamilyByName(name string) (found *Family) {
	name = strings.ToLower(name)
	at, n := len(name), 0
	for _, f := range s.Families {
		for _, word := range f.models {
			if i := wordIn(name, word); i >= 0 && (i < at || i == at && len(word) > n) {
				found, at, n = f, i, len(word)
			}
		}
	}
	return found
}

// wordIn returns the index of a word in a name, not behind another letter; -1: none.
func wordIn(name, word string) int {
	for from := 0; ; {
		i := strings.Index(name[from:], word)
		if i < 0 {
			return -1
		}
		if i += from; i == 0 || !scan.IsLower(name[i-1]) {
			return i
		}
		from = i + 1
	}
}

// FamilyByTemplate returns the only family that matches a chat template; nil: none or several.
func (s *Set) FamilyByTemplate(template string) (found *Family) {
	for _, f := range s.Families {
		holds := func(text string) bool { return strings.Contains(template, text) }
		if len(f.template) == 0 ||
			slices.ContainsFunc(f.template, func(text string) bool { return !holds(text) }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

// ProfileFor returns the profile that reads the replies of a model, by its name in a record: that of
// models.yaml, or else of its family.
func (s *Set) ProfileFor(name string) string {
	if m, ok := s.Model(name); ok && (m.Profile.Value != "" || m.Family.Value != "") {
		return cmp.Or(m.Profile.Value, m.Family.Value)
	}
	if f := s.FamilyByName(name); f != nil {
		return f.Name
	}
	return DefaultProfile
}

// Family returns the family with this name; nil: none.
func (s *Set) Family(name string) *Family {
	if i := slices.IndexFunc(s.Families, func(f *Family) bool { return f.Name == name }); i >= 0 {
		return s.Families[i]
	}
	return nil
}

// Advised returns the sampling of models.yaml, completed by what the family's makers advise.
func (f *Family) Advised(own map[string]any) map[string]any {
	if len(f.Sampling) == 0 {
		return own
	}
	out := maps.Clone(f.Sampling)
	maps.Copy(out, own)
	return out
}

// stems returns the files of a folder by their stems. A file of the operator replaces the program's own.
func (l *loader) stems(folder string) map[string]string {
	out := map[string]string{}
	for name := range l.files {
		plain, builtin := strings.CutPrefix(name, rulefile.BuiltinFolder+"/")
		stem, ok := strings.CutSuffix(path.Base(plain), ".yaml")
		if ok && path.Dir(plain) == folder && !(builtin && out[stem] != "") {
			out[stem] = name
		}
	}
	return out
}

// families compiles the folder families, a profile for each file.
func (l *loader) families() {
	files := l.stems(rulefile.FamilyFolder)
	var all strategyList
	for _, stem := range slices.Sorted(maps.Keys(files)) {
		f := decodeFile[familyFile](l, files[stem])
		own := l.family(stem, files[stem], &f)
		all = strategyList{slices.Concat(all.rules, own.rules), slices.Concat(all.compiled, own.compiled)}
	}
	for _, p := range l.strategyDoc.Profiles {
		usual := l.set.profiles[p.Key.Value]
		if p.Value.Families && usual != nil && l.clean(slices.Collect(maps.Values(files))...) {
			l.addFrames(p.Key.Value, usual.All(), all)
		}
	}
}

// addFrames compiles a profile anew, with the frames of all families behind its strategies. Families that
// write alike share a frame.
func (l *loader) addFrames(profile string, list []parse.Strategy, of strategyList) {
	for i, st := range of.compiled {
		_, off := l.lockedOff(of.rules[i])
		if st.Kind != parse.Frames || off != "" || slices.ContainsFunc(list, st.SameFrame) {
			continue
		}
		st.Own, st.Foreign, st.Priority = false, true, -len(list)
		list = append(list, st)
	}
	compiled, err := parse.Compile(list)
	if err != nil {
		l.refused(err)
		return
	}
	l.set.profiles[profile] = compiled
}

// family compiles one file, and returns its strategies.
func (l *loader) family(name, file string, f *familyFile) (own strategyList) {
	out := &Family{Name: name, About: f.About, Sampling: f.Sampling, template: values(f.Template),
		History: History{f.History.IDs.Value, f.History.OneCall, f.History.Alternate, f.History.Strict}}
	for _, t := range f.Models {
		word := strings.ToLower(strings.TrimSpace(t.Value))
		if word == "" && t.At.Known() {
			l.reject(t, "text is empty",
				"write a word of the names of the models, such as qwen")
			continue
		}
		if other := l.claimed[word]; other != "" {
			l.report(t.All(), rulefile.CodeDup, fmt.Sprintf("%s and %s both claim models with %s", other,
				name, word),
				"take it out of one of the two files, or write more of the name")
		}
		l.claimed[word] = name
		out.models = append(out.models, word)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Sampling)) {
		if wrong := prompt.Unfit(key, f.Sampling[key]); wrong != "" {
			l.report(l.placeOf(file, "sampling"), rulefile.CodeValue, "sampling cannot set "+key, wrong)
		}
	}
	if ids := f.History.IDs; !strings.Contains(ids.Value, "{n}") {
		l.reject(ids, "ids does not count the calls",
			"write {n} for the number of a call")
	}
	l.set.Families = append(l.set.Families, out)
	if _, twice := l.set.profiles[name]; twice {
		l.report(l.placeOf(file, "about"), rulefile.CodeDup, name+" is the name of a profile of "+
			strategiesFile,
			"give the file another name")
		return own
	}
	own = l.familyStrategies(file, f)
	out.foreign = len(own.compiled) > 0
	out.Marks, _ = f.marks()
	if t := f.Thoughts; t != nil {
		out.Switch, out.open, out.close = t.Switch, values(t.Open), values(t.Close)
	}
	rules := slices.Concat(l.strategyDoc.Strategies, own.rules)
	all := slices.Concat(l.compiled, own.compiled)
	usual := l.set.profiles[DefaultProfile]
	if usual == nil || !l.clean(strategiesFile, file) {
		return own
	}
	if f.Keep == nil && !out.foreign {
		l.set.profiles[name] = usual
		return own
	}
	ids := mapSlice(all, func(s parse.Strategy) string { return s.ID })
	var profile profileRule
	for _, list := range [][]parse.Strategy{usual.All(), own.compiled} {
		for _, st := range list {
			if st.Enabled && (st.Own || f.Keep == nil || slices.Contains(f.Keep, st.Kind)) {
				profile.Only = append(profile.Only, rulefile.Text{Value: st.ID})
			}
		}
	}
	l.profile(file, name, profile, all, rules, ids)
	return own
}

// marks returns the tokens with which the family writes calls and thoughts, and the literals that say nothing
// alone: those around calls and thoughts, and those within calls that hold a special token.
func (f *familyFile) marks() (tokens, alone []string) {
	var around, within []string
	for _, r := range f.Strategies {
		if fr := r.Frame; fr != nil {
			around = slices.Concat(around, values(fr.Open), fr.Close)
			within = slices.Concat(within, values(fr.Call), []string{fr.Argument.Value, fr.Quote})
		}
	}
	if t := f.Thoughts; t != nil {
		around = slices.Concat(around, values(t.Open), values(t.Close))
	}
	for _, text := range around {
		if text = strings.TrimSpace(text); tag.MatchString(text) || mark.MatchString(text) {
			alone = append(alone, text)
		}
	}
	for _, text := range slices.Concat(around, within) {
		for _, part := range slot.Split(text, -1) {
			found := mark.FindAllString(part, -1)
			tokens = append(tokens, found...)
			for _, token := range found {
				if strings.ContainsAny(token, "|｜[_") {
					alone = append(alone, token, strings.TrimSpace(part))
				}
			}
		}
	}
	slices.Sort(tokens)
	return slices.Compact(tokens), alone
}

// mark matches what may be one token of a model, tag what opens and closes as such do, slot what parts the
// literals of a template.
var (
	mark = regexp.MustCompile(`<[^<>\s{}]+>|\[/?[A-Z_]+\]`)
	tag  = regexp.MustCompile(`^[<\[].+[>\]]$`)
	slot = regexp.MustCompile(`\{[a-z]+\}`)
)

// strategyList is strategies as written and compiled.
type strategyList struct {
	rules    []strategyRule
	compiled []parse.Strategy
}

// familyStrategies compiles the strategies of a family, with those for thoughts and for marks that are never
// shown.
func (l *loader) familyStrategies(file string, f *familyFile) (out strategyList) {
	out.rules = f.Strategies
	for _, r := range f.Strategies {
		l.checkID(r.ID)
		st := l.strategy(r)
		st.Own, st.Priority = true, st.Priority+familyFirst
		out.compiled = append(out.compiled, st)
		for _, e := range r.Hit {
			l.examples = append(l.examples, func() { l.tryHit(st, e) })
		}
		for _, t := range r.Miss {
			l.examples = append(l.examples, func() { l.tryMiss(st, t, nil) })
		}
	}
	l.priorities(f.Strategies)
	stem := strings.TrimSuffix(path.Base(file), ".yaml")
	add := func(st parse.Strategy, at rulefile.Place) {
		st.Enabled, st.Own, st.Confidence, st.Place = true, true, 1, at.String()
		out.compiled = append(out.compiled, st)
		out.rules = append(out.rules, strategyRule{At: at, ID: rulefile.Text{Value: st.ID}, Kind: st.Kind})
	}
	if t := f.Thoughts; t != nil {
		add(parse.Strategy{ID: stem + "_thoughts", Kind: parse.Thinks, Priority: familyThoughtsFirst,
			Open: values(t.Open), Close: values(t.Close), Opened: t.Opened}, l.placeOf(file, "thoughts"))
	}
	_, never := f.marks()
	never = append(never, values(f.Never)...)
	slices.Sort(never)
	if never = slices.Compact(never); len(never) > 0 {
		add(parse.Strategy{ID: stem + "_never", Kind: parse.Drop, Priority: 1, Open: never},
			l.placeOf(file, "never"))
	}
	return out
}

// familyFirst is added to the priorities of a family's own strategies, so that they precede all others.
const familyFirst = 1000

// familyThoughtsFirst is the priority of the strategy that separates thoughts from text: nothing reads before
// it.
const familyThoughtsFirst = 2*familyFirst + 1
