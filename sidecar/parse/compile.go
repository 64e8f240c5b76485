package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Strategies are compiled strategies, immutable and safe for concurrent use.
type Strategies struct {
	all     []Strategy // highest priority first, with disabled ones
	native  *Strategy
	harmony *Strategy
	json    *Strategy
	lines   *Strategy
	// the words that begin lines, by their keyword
	lineWords [][]string
	phrases   *Strategy
	thinking  *Strategy
	calls     []string // literals that open a call in the model's own format

	bracketed *opener // [NAME] on a line of its own, for the first strategy of brackets

	header    *harmony.Grammar
	printed   FirstKeys      // of a message printed in place of a call
	openers   [256][]*opener // by their first byte in lower case, higher priority first
	first     [256]openClass
	pairs     scan.Pairs
	lead      int
	thoughts  []string // in lower case
	lineOpens bool
}

// openClass tells where a byte in a line may open something.
type openClass uint8

const (
	plain         openClass = iota
	opensAnywhere           // after any byte
	opensWord               // a literal, at the start of a word
)

// Compile checks and prepares strategies, also disabled ones.
func Compile(list []Strategy) (*Strategies, error) {
	s := &Strategies{all: slices.Clone(list)}
	slices.SortStableFunc(s.all, func(a, b Strategy) int { return b.Priority - a.Priority })
	priorities := map[int]string{}
	var enabled []*Strategy
	for i := range list {
		st := list[i]
		if err := st.Check(); err != nil {
			return nil, err
		}
		if !st.Enabled {
			continue
		}
		if other, twice := priorities[st.Priority]; twice {
			return nil, st.Errorf("has the priority %d of %s; the order between them is open", st.Priority,
				other)
		}
		priorities[st.Priority] = st.ID
		if len(st.Read) == 0 {
			st.Read = []Field{Content}
		}
		enabled = append(enabled, &st)
	}
	slices.SortFunc(enabled, func(a, b *Strategy) int { return b.Priority - a.Priority })
	for _, st := range enabled {
		if err := s.add(st); err != nil {
			return nil, err
		}
	}
	s.prepare()
	return s, nil
}

// All returns every strategy, highest priority first, also disabled ones. The caller must not change
// them.
func (s *Strategies) All() []Strategy { return s.all }

// add registers a strategy. Only frames and drops may occur more than once.
func (s *Strategies) add(st *Strategy) error {
	slot := map[Kind]**Strategy{Native: &s.native, Harmony: &s.harmony, JSON: &s.json, Lines: &s.lines,
		Phrases: &s.phrases, Thinks: &s.thinking}[st.Kind]
	if slot != nil {
		if *slot != nil {
			return st.Errorf("%s is of kind %s already; a kind can be enabled once", (*slot).ID, st.Kind)
		}
		if *slot = st; st.Kind != Thinks {
			return nil
		}
	}
	if st.Own && st.Kind == Frames {
		s.calls = append(s.calls, st.Open...)
	}
	for _, lit := range st.Open {
		drop, first := st.Kind == Drop, false
		if drop && st.Own {
			lit, first = strings.CutPrefix(lit, "^")
		}
		before, behind, named := strings.Cut(lit, ToolName)
		s.open(&opener{lit: before, named: named, rest: behind, st: st, drop: drop, first: first})
	}
	for _, lit := range st.Done {
		s.open(&opener{lit: lit, st: st, done: true})
	}
	if s.bracketed == nil && st.Frame.reads("pairs") {
		s.bracketed = &opener{lit: "[", st: st}
		s.first['['] = opensAnywhere
	}
	return nil
}

// open adds an opener to the tables that the reader scans with.
func (s *Strategies) open(op *opener) {
	a := op.lit[0]
	list := s.openers[scan.Lower(a)]
	at := slices.IndexFunc(list, func(short *opener) bool { // what goes on as it does is looked for first
		return len(short.lit) < len(op.lit) && strings.EqualFold(short.lit, op.lit[:len(short.lit)]) &&
			!(op.drop && short.st.Frame.begins(op.lit)) && !(op.st.Foreign && !short.st.Foreign)
	})
	if at < 0 {
		at = len(list)
	}
	s.openers[scan.Lower(a)] = slices.Insert(list, at, op)
	if !scan.IsWord(a) || a >= 0x80 {
		s.first[a] = opensAnywhere
		return
	}
	if s.pairs == nil {
		s.pairs = scan.NewPairs()
	}
	for _, a := range []byte{scan.Lower(a), scan.Upper(a)} {
		if s.first[a] == plain {
			s.first[a] = opensWord
		}
		s.pairs.Add(a, scan.Lower(op.lit[1]))
		s.pairs.Add(a, scan.Upper(op.lit[1]))
	}
}

// prepare sets up the scan tables of the kinds other than blocks.
func (s *Strategies) prepare() {
	s.first['\n'], s.first['`'] = opensAnywhere, opensAnywhere
	if s.lines != nil {
		s.lineWords = s.lines.Lines.kinds()
	}
	s.lineOpens = s.harmony != nil || s.lines != nil
	s.header = harmony.New(harmony.Words{}, harmony.Signs{})
	if s.harmony != nil {
		s.header = harmony.New(s.harmony.Header, s.harmony.Signs)
		for _, w := range slices.Concat(s.harmony.Header.Channels, s.harmony.Header.Recipient,
			[]string{harmony.Assistant}) {
			s.first[w[0]] = max(s.first[w[0]], opensWord)
		}
		for b := range s.first {
			if s.header.Leads(byte(b)) {
				s.first[b] = opensAnywhere
			}
		}
		s.lead = s.harmony.Lead
		for _, begin := range s.harmony.Thoughts {
			s.thoughts = append(s.thoughts, strings.ToLower(begin))
		}
	}
	if s.json != nil {
		s.printed, s.lineOpens = s.json.Envelope.Printed(), true
		s.first['{'], s.first['['], s.first['('] = opensAnywhere, opensAnywhere, opensAnywhere
	}
}
