package ruleset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// strategyFile is strategies.yaml.
type strategyFile struct {
	rulefile.Head
	Strategies []strategyRule               `rule:"strategies,required" doc:"The ways to read a reply. If two could read a text, the one of higher priority does."`
	Profiles   []rulefile.Pair[profileRule] `rule:"profiles" doc:"Profiles change the list of strategies. A model of models.yaml may choose one by its name. default is for all others."`
	Styles     []rulefile.Pair[styleRule]   `rule:"styles" doc:"Styles are for servers that cannot call tools: how the model is told of them, and how it calls them in words."`
	Choose     []choice                     `rule:"choose" doc:"Which style is used. The first choice that holds counts; without one, the server calls tools itself. A model of models.yaml may name a style instead."`
}

type strategyRule struct {
	At         rulefile.Place
	ID         rulefile.Text     `rule:"id,required" doc:"The strategy's name in traces and metrics." eg:"angle_calls"`
	About      string            `rule:"about,required" doc:"Why the rule exists." eg:"Calls between double angle brackets, seen from our fine-tune."`
	Kind       parse.Kind        `rule:"kind,required" one:"native harmony json lines frame drop phrases block pattern" doc:"What it reads. native: calls that the server parsed. harmony: channel tokens. json: an object of calls. lines: Action lines. frame: calls between literals, as templates say. phrases: prose. drop removes literals from the text. block and pattern are kinds of earlier versions: write frame."`
	Priority   rulefile.Number   `rule:"priority,required" min:"1" max:"1000" doc:"If two strategies could read a text, the one of higher priority does. No two have the same." eg:"55"`
	Confidence float64           `rule:"confidence,required" min:"0" max:"1" doc:"How sure the strategy is of its calls. Each call carries the number." eg:"0.85"`
	Enabled    *bool             `rule:"enabled" doc:"false switches the strategy off. A profile may switch it on."`
	Read       []parse.Field     `rule:"read" one:"content reasoning" doc:"The fields of a reply that it reads. If left out, it is content. Reasoning is read only if content holds nothing." eg:"[content, reasoning]"`
	When       *rulefile.Text    `rule:"when" doc:"A condition. If it does not hold, or fails while it runs, there is no call." eg:"len(text) < 4000"`
	Harmony    *harmonyRule      `rule:"harmony" doc:"The part of kind harmony."`
	JSON       *jsonRule         `rule:"json" doc:"The part of kind json: the keys of the object, the usual one first."`
	Lines      *linesRule        `rule:"lines" doc:"The part of kind lines."`
	Block      *blockRule        `rule:"block" doc:"The part of kind block, which frame replaced."`
	Frame      *frameRule        `rule:"frame" doc:"The part of kind frame: how a call and its arguments are written between open and close."`
	Pattern    rulefile.Obsolete `rule:"pattern" doc:"The strategy reads nothing until it is written as kind: frame, with templates in place of expressions."`
	Drop       *dropRule         `rule:"drop" doc:"The part of kind drop: what the user never sees."`
	Phrases    *phrasesRule      `rule:"phrases" doc:"The part of kind phrases. The phrases themselves stand in arguments.yaml."`
	Hit        []example         `rule:"hit" doc:"Replies that it must read. Every load tries them."`
	Miss       []rulefile.Text   `rule:"miss" doc:"Texts that it must leave alone. Every load tries them." eg:"[The answer is 42.]"`
}

type harmonyRule struct {
	Lead     int            `rule:"lead" min:"0" max:"4096" doc:"How many bytes of unmarked text are held at the start of a reply without reasoning, for at most 0.2 s. A stream is held only if its server was seen to eat headers, or if the text begins as thoughts do. 0 holds none." eg:"256"`
	Thoughts []string       `rule:"thoughts" doc:"How thoughts begin, in any case." eg:"[We need, The user]"`
	Header   *harmony.Words `rule:"header" doc:"The words of a header, with control tokens or without."`
	Signs    signsRule      `rule:"signs" doc:"Characters that stand for those of a control token. Full-width forms, HTML entities, escapes of JSON and URLs, and invisible characters need not be listed."`
}

type signsRule struct {
	Open  string          `rule:"open" doc:"Characters that stand for <." eg:"'‹〈'"`
	Bar   string          `rule:"bar" doc:"Characters that stand for the bar." eg:"'¦│'"`
	Close string          `rule:"close" doc:"Characters that stand for >." eg:"'›〉'"`
	Pairs []rulefile.Text `rule:"pairs" doc:"What may stand around the word of a control token in place of its signs, with a blank between. It counts in a reply whose headers are all written so." eg:"['< >', '[ ]']"`
}

// jsonRule is the part of kind json, with former keys that became frames.
type jsonRule struct {
	parse.Keys
	Heads  rulefile.Obsolete `rule:"heads" doc:"A header in lines is the strategy header_lines, a frame."`
	Status rulefile.Obsolete `rule:"status" doc:"Lines in which a front end says what it calls are a frame that you may write: open: ['Calling tool:'], call: ['{name} Arguments: {arguments}']."`
	Tags   rulefile.Obsolete `rule:"tags" doc:"Elements are the strategies message_element and open_webui, which are frames."`
}

type linesRule struct {
	parse.LineWords
	Done  []string          `rule:"done" doc:"Names of actions that end the turn." eg:"[done, finish, none]"`
	Multi rulefile.Obsolete `rule:"multi" doc:"It did nothing."`
}

// blockRule is the part of a kind of earlier versions.
type blockRule struct {
	Open  []rulefile.Text `rule:"open,required" doc:"As in frame." eg:"['<tool_call>']"`
	Close []string        `rule:"close" doc:"As in frame." eg:"['</tool_call>']"`
	Line  bool            `rule:"line_start" doc:"As in frame."`
	Body  rulefile.Text   `rule:"body,required" one:"json pairs named xml code auto" doc:"What call of a frame says: ['{object}'] for json, ['{pairs}'] for pairs and named, ['{tags}'] for xml, ['{code}'] for code, and ['{object}', '{tags}', '{code}'] for auto."`
	Done  []string        `rule:"done" doc:"As in frame." eg:"['[DONE]']"`
}

// bodies returns the templates of calls for the body of a block.
func bodies(body string) []string {
	return map[string][]string{"json": {"{object}"}, "xml": {"{tags}"},
		"pairs": {"{pairs}"}, "named": {"{pairs}"},
		"code": {"{object}", "{tags}", "{code}"}, "auto": {"{object}", "{tags}", "{code}"}}[body]
}

type frameRule struct {
	Open     []rulefile.Text `rule:"open,required" doc:"Literals that begin a call, or several, in upper or lower case." eg:"['<tool_call>']"`
	Close    []string        `rule:"close" doc:"Literals that end them." eg:"['</tool_call>']"`
	Line     bool            `rule:"line_start" doc:"true means that a call begins only at the start of a line."`
	Call     []rulefile.Text `rule:"call,required" doc:"How a call is written, in upper or lower case: {name} is the tool, {arguments} all arguments, {any} what says nothing, and a blank any white space. Or one slot is all of it: {object}, {tags}, {code} or {pairs}. The first one that fits counts; those of one slot come first." eg:"['<function={name}> {arguments} </function>']"`
	Argument rulefile.Text   `rule:"argument" doc:"How one argument is written. The tool's schema says its type. If left out, the arguments are JSON. A value ends where the frame goes on behind it." eg:"'<parameter={key}>{value}</parameter>'"`
	Quote    string          `rule:"quote" doc:"What stands for the quotes of JSON in the arguments." eg:"'<|\"|>'"`
	Done     []string        `rule:"done" doc:"Lines that end the turn." eg:"['[DONE]']"`
}

type dropRule struct {
	Text []rulefile.Text `rule:"text,required" doc:"Literals that are removed from the text." eg:"['<sep>']"`
}

type phrasesRule struct {
	Tools []string `rule:"tools,required" doc:"The only tools that it may call. All are of class read." eg:"[web_search]"`
}

// profileRule is how a profile differs from the strategies.
type profileRule struct {
	About    string          `rule:"about" doc:"What the profile is for." eg:"For a server whose parsing is trusted."`
	Only     []rulefile.Text `rule:"only" doc:"The ids of the only strategies that are on." eg:"[native, harmony]"`
	Enable   []rulefile.Text `rule:"enable" doc:"The ids of strategies that it switches on." eg:"[fuzzy]"`
	Disable  []rulefile.Text `rule:"disable" doc:"The ids of strategies that it switches off." eg:"[markers]"`
	Families bool            `rule:"families" doc:"true also reads the frames of all families, behind the strategies. But for objects that name their tool, they only call tools that read."`
}

// strategies compiles strategies.yaml: one parse.Strategies per profile.
func (l *loader) strategies() {
	f := decodeFile[strategyFile](l, strategiesFile)
	ids := mapSlice(f.Strategies, func(r strategyRule) string { return r.ID.Value })
	f.Strategies = slices.DeleteFunc(slices.Clone(f.Strategies),
		func(r strategyRule) bool { return r.Kind == patternKind })
	l.strategyDoc = f
	compiled := make([]parse.Strategy, len(f.Strategies))
	for i, r := range f.Strategies {
		l.checkID(r.ID)
		compiled[i] = l.strategy(r)
		for _, e := range r.Hit {
			l.examples = append(l.examples, func() { l.tryHit(compiled[i], e) })
		}
		for _, t := range r.Miss {
			l.examples = append(l.examples, func() { l.tryMiss(compiled[i], t, offeredFor(compiled[i])) })
		}
	}
	l.warnUnusedLocks(ids)
	l.priorities(f.Strategies)
	if _, ok := l.files[strategiesFile]; !ok {
		return
	}
	l.compiled = compiled
	l.profile(strategiesFile, DefaultProfile, profileRule{}, compiled, f.Strategies, ids)
	for _, p := range f.Profiles {
		l.profile(strategiesFile, p.Key.Value, p.Value, compiled, f.Strategies, ids)
	}
}

// Kinds of earlier versions: blocks are frames now, and patterns are no longer read.
const (
	blockKind   = "block"
	patternKind = "pattern"
)

// offeredFor returns the tools for a miss: prose is only read with known tools, everything else with any
// name.
func offeredFor(s parse.Strategy) *[]string {
	if s.Kind == parse.Phrases {
		return &s.Tools
	}
	return nil
}

func (l *loader) strategy(r strategyRule) parse.Strategy {
	l.set.book.add(r.At, r.ID.Value)
	s := parse.Strategy{
		ID: r.ID.Value, Kind: r.Kind, Priority: r.Priority.Value, Confidence: r.Confidence, Read: r.Read,
		Place: r.At.String(), Enabled: r.Enabled == nil || *r.Enabled, When: when[parse.Env](l, r.When, nil),
	}
	if r.When != nil {
		l.set.conditions[r.ID.Value] = *r.When
	}
	if r.Kind == parse.Harmony {
		s.Header = harmony.UsualWords()
	}
	if h := r.Harmony; h != nil {
		s.Lead, s.Thoughts = h.Lead, h.Thoughts
		if h.Header != nil {
			s.Header = *h.Header
		}
		s.Signs = harmony.Signs{TokenSigns: harmony.TokenSigns{Open: h.Signs.Open, Bar: h.Signs.Bar,
			Close: h.Signs.Close}, Pairs: l.signPairs(h.Signs.Pairs)}
	}
	if j := r.JSON; j != nil {
		s.Envelope = j.Keys
	}
	if n := r.Lines; n != nil {
		s.Lines, s.Done = n.LineWords, n.Done
	}
	if b := r.Block; b != nil {
		r.Kind, s.Kind, r.Block = parse.Frames, parse.Frames, nil
		r.Frame = &frameRule{Open: b.Open, Close: b.Close, Line: b.Line, Done: b.Done}
		for _, call := range bodies(b.Body.Value) {
			r.Frame.Call = append(r.Frame.Call, rulefile.Text{Value: call, At: b.Body.At})
		}
		gone := r.At.Problem(rulefile.CodeKey, "kind block is an old name of kind frame",
			fmt.Sprintf("write kind: frame, and in its part frame call: ['%s'] in place of body",
				strings.Join(bodies(b.Body.Value), "', '")))
		gone.Warning = true
		l.problems = append(l.problems, gone)
	}
	if f := r.Frame; f != nil {
		s.Open, s.Close, s.LineStart, s.Frame, s.Done = values(f.Open), f.Close, f.Line, l.frame(*f), f.Done
	}
	if d := r.Drop; d != nil {
		s.Open = values(d.Text)
	}
	if p := r.Phrases; p != nil {
		s.Tools = p.Tools
		for _, ph := range l.phrases {
			if slices.Contains(p.Tools, ph.Tool) {
				s.Phrase = append(s.Phrase, ph)
			}
		}
	}
	l.kindKeys(r)
	return s
}

// frame compiles the templates of a frame.
func (l *loader) frame(r frameRule) parse.Frame {
	f := parse.Frame{Quote: r.Quote}
	read := func(t rulefile.Text) parse.Template {
		out, err := parse.NewTemplate(t.Value)
		if err != nil {
			l.reject(t, err.Error(), "")
		}
		return out
	}
	for _, c := range r.Call {
		f.Calls = append(f.Calls, read(c))
	}
	f.Argument = read(r.Argument)
	return f
}

// kindKeys checks that a strategy has the keys of its kind only.
func (l *loader) kindKeys(r strategyRule) {
	for _, k := range []struct {
		kind        parse.Kind
		has, needed bool
	}{
		{parse.Harmony, r.Harmony != nil, false}, {parse.JSON, r.JSON != nil, true}, {parse.Lines, r.Lines != nil, false},
		{"block", r.Block != nil, true}, {parse.Frames, r.Frame != nil, true}, {parse.Drop, r.Drop != nil, true}, {parse.Phrases, r.Phrases != nil, true},
	} {
		switch {
		case k.has && k.kind != r.Kind && r.Kind != "":
			l.report(r.At, rulefile.CodeKey, fmt.Sprintf("a strategy of kind %s cannot have the part %s",
				r.Kind, k.kind), "")
		case !k.has && k.kind == r.Kind && k.needed:
			l.report(r.At, rulefile.CodeMissing, fmt.Sprintf("a strategy of kind %s needs the part %s",
				r.Kind, k.kind), "")
		}
	}
}

// priorities reports equal priorities.
func (l *loader) priorities(rules []strategyRule) {
	first := map[int]string{}
	for _, r := range rules {
		p := r.Priority.Value
		if p == 0 {
			continue
		}
		if id, twice := first[p]; twice {
			l.report(r.Priority.At, rulefile.CodeDup, fmt.Sprintf("%s has the same priority as %s",
				r.ID.Value, id), "it must be clear which one is tried first")
			continue
		}
		first[p] = r.ID.Value
	}
}

// profile compiles the strategies of one profile of a file. It may name any of ids.
func (l *loader) profile(file, name string, r profileRule, all []parse.Strategy, rules []strategyRule,
	ids []string) {
	list := slices.Clone(all)
	for i := range list {
		list[i].Enabled = list[i].Enabled && len(r.Only) == 0
	}
	for _, change := range []struct {
		ids []rulefile.Text
		on  bool
	}{{r.Only, true}, {r.Enable, true}, {r.Disable, false}} {
		for _, id := range change.ids {
			at := slices.IndexFunc(list, func(s parse.Strategy) bool { return s.ID == id.Value })
			if l.checkOneOf(id, "strategy", ids) && at >= 0 {
				list[at].Enabled = change.on
			}
		}
	}
	for i := range list {
		if by, why := l.lockedOff(rules[i]); why != "" && list[i].Enabled {
			l.warnLooser(rules[i].ID.All(), by, why)
			l.set.barred[list[i].ID] = by.String()
			list[i].Enabled = false
		}
	}
	if !l.clean(strategiesFile, file) {
		return
	}
	compiled, err := parse.Compile(list)
	if err != nil {
		l.refused(err)
		return
	}
	l.set.profiles[name] = compiled
}

// refused reports an error of parse.Compile.
func (l *loader) refused(err error) {
	p := rulefile.Problem{File: strategiesFile, Code: rulefile.CodeValue, Msg: err.Error()}
	var se *parse.StrategyError
	if errors.As(err, &se) {
		p.Msg = se.ID + ": " + se.Msg
		name, number, _ := strings.Cut(se.Place, ":")
		p.File = name
		if line, err := strconv.Atoi(number); err == nil {
			p = rulefile.LineOf(name, l.files[name], line).Problem(rulefile.CodeValue, p.Msg, "")
		}
	}
	l.problems = append(l.problems, p)
}

// signPairs parses pairs of signs.
func (l *loader) signPairs(texts []rulefile.Text) (pairs []harmony.Brackets) {
	for _, t := range texts {
		open, end, ok := strings.Cut(t.Value, " ")
		if !ok || open == "" || end == "" || strings.ContainsAny(t.Value, letters) ||
			strings.Contains(end, " ") {
			l.reject(t, strconv.Quote(t.Value)+" is no pair of signs",
				"write what stands in front of the word and what stands behind it, with a blank between, such as '[ ]'")
			continue
		}
		pairs = append(pairs, harmony.Brackets{Open: open, Close: end})
	}
	return pairs
}

// letters cannot be signs around a word.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// evidenceDoc is evidence.yaml.
type evidenceDoc struct {
	rulefile.Head
	Topic   []string          `rule:"topic" doc:"What a user says who writes about calls, in any case." eg:"[tool call]"`
	Data    []string          `rule:"data" doc:"What a user or a thought says where the answer is an object, in small letters: an object that fits a tool and names none is asked about then." eg:"[json]"`
	Base    rulefile.Obsolete `rule:"base" doc:"What stands around a call decides; signs have no weights."`
	Weights rulefile.Obsolete `rule:"weights" doc:"What stands around a call decides; signs have no weights."`
	Talk    rulefile.Obsolete `rule:"talk" doc:"Words of sentences are not read: a colon or a question in front, or text behind, is asked about."`
	Looks   rulefile.Obsolete `rule:"looks" doc:"Text behind a call is asked about, whatever its tool does."`
	Run     rulefile.Obsolete `rule:"run" doc:"What the tool does and what stands around the call decide; there are no scores."`
	Ask     rulefile.Obsolete `rule:"ask" doc:"What the tool does and what stands around the call decide; there are no scores."`
}

func (l *loader) evidence() {
	f := decodeFile[evidenceDoc](l, evidenceFile)
	l.set.topic, l.set.data = f.Topic, f.Data
}
