package ruleset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// strategyFile is strategies.yaml.
type strategyFile struct {
	Version    int                 `rule:"version,required" one:"1"`
	Strategies []strategyRule      `rule:"strategies,required"`
	Profiles   []pair[profileRule] `rule:"profiles"`
}

type strategyRule struct {
	At         place
	ID         text         `rule:"id,required"`
	About      string       `rule:"about,required"`
	Kind       string       `rule:"kind,required" one:"native harmony json lines block phrases"`
	Priority   number       `rule:"priority,required" min:"1" max:"1000"`
	Confidence float64      `rule:"confidence,required" min:"0" max:"1"`
	Enabled    *bool        `rule:"enabled"`
	Read       []string     `rule:"read" one:"content reasoning"`
	When       *text        `rule:"when"`
	Harmony    *harmonyRule `rule:"harmony"`
	JSON       *jsonRule    `rule:"json"`
	Lines      *linesRule   `rule:"lines"`
	Block      *blockRule   `rule:"block"`
	Phrases    *phrasesRule `rule:"phrases"`
	Hit        []example    `rule:"hit"`
	Miss       []text       `rule:"miss"`
}

type harmonyRule struct {
	Lead int `rule:"lead" min:"0" max:"4096"`
}

type jsonRule struct {
	Calls     []string `rule:"calls"`
	Name      []string `rule:"name,required"`
	Arguments []string `rule:"arguments,required"`
	Done      []string `rule:"done"`
	Answer    []string `rule:"answer"`
}

type linesRule struct {
	Done  []string `rule:"done"`
	Multi bool     `rule:"multi"`
}

type blockRule struct {
	Open  []text   `rule:"open,required"`
	Close []string `rule:"close"`
	Body  string   `rule:"body,required" one:"json pairs named xml code auto"`
	Done  []string `rule:"done"`
}

type phrasesRule struct {
	Tools []string `rule:"tools,required"`
}

// profileRule says how a profile differs from what the strategies say.
type profileRule struct {
	About   string `rule:"about"`
	Only    []text `rule:"only"`
	Enable  []text `rule:"enable"`
	Disable []text `rule:"disable"`
}

// strategies compiles strategies.yaml: one parse.Strategies a profile.
func (l *loader) strategies() {
	f := decodeFile[strategyFile](l, strategiesFile)
	ids := make([]text, len(f.Strategies))
	compiled := make([]parse.Strategy, len(f.Strategies))
	for i, r := range f.Strategies {
		ids[i] = r.ID
		compiled[i] = l.strategy(r)
		for _, e := range r.Hit {
			l.examples = append(l.examples, func() { l.tryHit(compiled[i], e) })
		}
		for _, t := range r.Miss {
			l.examples = append(l.examples, func() { l.tryMiss(compiled[i], t, offeredFor(compiled[i])) })
		}
	}
	l.unique(ids)
	l.priorities(f.Strategies)
	if _, ok := l.files[strategiesFile]; !ok {
		return
	}
	l.profile(DefaultProfile, profileRule{}, compiled, ids)
	for _, p := range f.Profiles {
		l.profile(p.Key.Value, p.Value, compiled, ids)
	}
}

// offeredFor is what a miss is tried with: prose is read only where tools are
// known, everything else where any name will do.
func offeredFor(s parse.Strategy) *[]string {
	if s.Kind == parse.Phrases {
		return &s.Tools
	}
	return nil
}

func (l *loader) strategy(r strategyRule) parse.Strategy {
	s := parse.Strategy{
		ID: r.ID.Value, Kind: parse.Kind(r.Kind), Priority: r.Priority.Value, Confidence: r.Confidence,
		Place: r.At.String(), Enabled: r.Enabled == nil || *r.Enabled, When: when[parse.Env](l, r.When),
	}
	for _, field := range r.Read {
		s.Read = append(s.Read, parse.Field(field))
	}
	if h := r.Harmony; h != nil {
		s.Lead = h.Lead
	}
	if j := r.JSON; j != nil {
		s.Envelope = parse.Envelope{Calls: j.Calls, Name: j.Name, Arguments: j.Arguments, Done: j.Done, Answer: j.Answer}
	}
	if n := r.Lines; n != nil {
		s.Done, s.Multi = n.Done, n.Multi
	}
	if b := r.Block; b != nil {
		s.Open, s.Close, s.Body, s.Done = values(b.Open), b.Close, parse.Body(b.Body), b.Done
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

// kindKeys checks that a strategy has the keys of its kind, and no others.
func (l *loader) kindKeys(r strategyRule) {
	for _, k := range []struct {
		kind        string
		has, needed bool
	}{
		{"harmony", r.Harmony != nil, false}, {"json", r.JSON != nil, true}, {"lines", r.Lines != nil, false},
		{"block", r.Block != nil, true}, {"phrases", r.Phrases != nil, true},
	} {
		switch {
		case k.has && k.kind != r.Kind && r.Kind != "":
			l.report(r.At, codeKey, fmt.Sprintf("a strategy of kind %s has no part %s", r.Kind, k.kind), "")
		case !k.has && k.kind == r.Kind && k.needed:
			l.report(r.At, codeMissing, fmt.Sprintf("a strategy of kind %s lacks its part %s", r.Kind, k.kind), "")
		}
	}
}

// priorities reports strategies that could both come first.
func (l *loader) priorities(rules []strategyRule) {
	first := map[int]string{}
	for _, r := range rules {
		p := r.Priority.Value
		if p == 0 {
			continue
		}
		if id, twice := first[p]; twice {
			l.report(r.Priority.at, codeDup, fmt.Sprintf("%s has the priority of %s", r.ID.Value, id), "which one is tried first must be clear")
			continue
		}
		first[p] = r.ID.Value
	}
}

// profile compiles the strategies as one profile wants them.
func (l *loader) profile(name string, r profileRule, all []parse.Strategy, ids []text) {
	list := slices.Clone(all)
	for i := range list {
		list[i].Enabled = list[i].Enabled && len(r.Only) == 0
	}
	for _, change := range []struct {
		ids []text
		on  bool
	}{{r.Only, true}, {r.Enable, true}, {r.Disable, false}} {
		for _, id := range change.ids {
			if l.known(id, "strategy", values(ids)) {
				list[slices.Index(values(ids), id.Value)].Enabled = change.on
			}
		}
	}
	if !l.clean(strategiesFile) {
		return
	}
	compiled, err := parse.Compile(list)
	if err != nil {
		l.refused(err)
		return
	}
	l.set.profiles[name] = compiled
}

// refused reports what parse.Compile says about a strategy.
func (l *loader) refused(err error) {
	p := Problem{File: strategiesFile, Code: codeValue, Msg: err.Error()}
	var se *parse.StrategyError
	if errors.As(err, &se) {
		p.Msg = se.ID + ": " + se.Msg
		var line int
		if _, scanErr := fmt.Sscanf(se.Place, strategiesFile+":%d", &line); scanErr == nil {
			src := newSource(strategiesFile, l.files[strategiesFile])
			p = src.lineAt(line).problem(codeValue, p.Msg, "")
		}
	}
	l.problems = append(l.problems, p)
}
