package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestScoreAndDecision(t *testing.T) {
	w := parse.Prior()
	set := func(signs ...parse.Sign) parse.Set { return parse.Set(0).With(signs...) }
	for _, row := range []struct {
		signs      parse.Set
		read, exec parse.Decision
	}{
		{set(parse.Object, parse.Fits), parse.Run, parse.Run},
		{set(parse.EvidenceName, parse.Fits, parse.Signs), parse.Run, parse.Leave},
		{set(parse.Object, parse.Fits, parse.Open), parse.Run, parse.Leave},
		{set(parse.Object, parse.Fits, parse.Quoted), parse.Leave, parse.Leave},
		{set(), parse.Leave, parse.Leave},
	} {
		score := w.Score(row.signs)
		if r, x := w.Decide(score, tools.Read), w.Decide(score, tools.Exec); r != row.read || x != row.exec {
			t.Errorf("%v: %.2f is %d for a tool that reads, %d for one that executes; want %d and %d",
				row.signs.All(), score, r, x, row.read, row.exec)
		}
	}
	w.Ask = parse.Thresholds{Read: 0.1, Write: 0.5, Exec: 0.5}
	if d := w.Decide(0.5, tools.Exec); d != parse.Ask {
		t.Errorf("between the two thresholds: %d", d)
	}
	if w.Score(set(parse.Object)) <= w.Score(set(parse.Object, parse.Quoted)) {
		t.Error("a quotation speaks for a call")
	}
}

func TestEvidenceNames(t *testing.T) {
	for i, name := range parse.EvidenceNames() {
		if s, ok := parse.Named(name); !ok || int(s) != i || s.String() != name {
			t.Errorf("%q is sign %d", name, s)
		}
	}
	if _, ok := parse.Named("moon"); ok {
		t.Error("a sign that nobody knows")
	}
}
