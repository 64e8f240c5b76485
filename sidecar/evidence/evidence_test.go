package evidence_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/evidence"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestScoreAndDecision(t *testing.T) {
	w := evidence.Prior()
	set := func(signs ...evidence.Sign) evidence.Set { return evidence.Set(0).With(signs...) }
	for _, row := range []struct {
		signs      evidence.Set
		read, exec evidence.Decision
	}{
		{set(evidence.Object, evidence.Fits), evidence.Run, evidence.Run},
		{set(evidence.Name, evidence.Fits, evidence.Signs), evidence.Run, evidence.Leave},
		{set(evidence.Object, evidence.Fits, evidence.Open), evidence.Run, evidence.Leave},
		{set(evidence.Object, evidence.Fits, evidence.Quoted), evidence.Leave, evidence.Leave},
		{set(), evidence.Leave, evidence.Leave},
	} {
		score := w.Score(row.signs)
		if r, x := w.Decide(score, tools.Read), w.Decide(score, tools.Exec); r != row.read || x != row.exec {
			t.Errorf("%v: %.2f is %d for a tool that reads, %d for one that executes; want %d and %d", row.signs.All(), score, r, x, row.read, row.exec)
		}
	}
	w.Ask = evidence.Thresholds{Read: 0.1, Write: 0.5, Exec: 0.5}
	if d := w.Decide(0.5, tools.Exec); d != evidence.Ask {
		t.Errorf("between the two thresholds: %d", d)
	}
	if w.Score(set(evidence.Object)) <= w.Score(set(evidence.Object, evidence.Quoted)) {
		t.Error("a quotation speaks for a call")
	}
}

func TestNames(t *testing.T) {
	for i, name := range evidence.Names() {
		if s, ok := evidence.Named(name); !ok || int(s) != i || s.String() != name {
			t.Errorf("%q is sign %d", name, s)
		}
	}
	if _, ok := evidence.Named("moon"); ok {
		t.Error("a sign that nobody knows")
	}
}
