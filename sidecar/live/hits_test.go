package live

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Hits are by rule, over all models and arms; a rule that never fired is there, and what a rule hit that is
// gone is not lost.
func TestHits(t *testing.T) {
	r := liveRules(t, "")
	for _, labels := range [][]string{{"a", "", "strategies.yaml", "harmony"}, {"b", "x/y", "strategies.yaml",
		"harmony"}, {"a", "", "exec.yaml", "long-gone"}} {
		r.m.Hits.WithLabelValues(labels...).Add(2)
	}
	hits := r.live.Hits()
	got := map[string]float64{}
	for _, h := range hits.Rules {
		if key := h.File + " " + h.ID; len(h.Places) == 0 {
			t.Errorf("%s stands nowhere", key)
		} else if _, twice := got[key]; twice {
			t.Errorf("%s is there twice", key)
		} else {
			got[key] = h.Hits
		}
	}
	if got["strategies.yaml harmony"] != 4 || got["exec.yaml long-gone"] != 0 || hits.Gone != 2 ||
		hits.Since.IsZero() {
		t.Errorf("%v, gone %v", got["strategies.yaml harmony"], hits.Gone)
	}
	if n, known := got["strategies.yaml markers"]; !known || n != 0 {
		t.Errorf("a rule that never fired: %v %v", n, known)
	}
}

// Who edits stands in the report, in the history and in the log, with the version that the edit is based on.
func TestWho(t *testing.T) {
	state := t.TempDir()
	r := liveRules(t, state)
	first := r.version()
	if _, err := r.live.Put(r.own("one"), Seen{Who: "Sam", Versions: []string{first}}); err != nil {
		t.Fatal(err)
	}
	second := r.version()
	if report := r.live.Report(false); report.By != byPut || report.Who != "Sam" {
		t.Errorf("the report says %s %s", report.By, report.Who)
	}
	if version, ok := r.live.Before(); !ok || version != first {
		t.Errorf("before it was %s", version)
	}
	if _, err := r.live.Rollback(first, Seen{Who: "Ann", Versions: []string{second}}); err != nil {
		t.Fatal(err)
	}
	lines := r.log.Lines("rules_taken")
	want := "version=" + first + " before=" + second + " by=rollback who=Ann\n"
	if last := lines[len(lines)-1]; len(last) < len(want) || last[len(last)-len(want):] != want {
		t.Errorf("the log says %q, not %q", last, want)
	}
	if past := r.live.History(); past[0].Who != "Ann" || past[1].Who != "Sam" || past[2].Who != "" {
		t.Errorf("%+v", past)
	}
	broken, ok := r.live.Texts(first)
	if !ok {
		t.Fatal("the texts are not there")
	}
	if _, ok := r.live.Texts("000000000000"); ok {
		t.Error("there are texts of a version that never was")
	}
	own := rulefile.Files{}
	for name, text := range broken.Own() {
		own[name] = text
	}
	own["models.yaml"] = "version: 2\n"
	if _, err := r.live.Put(own, Seen{Who: "Eve", Any: true}); err == nil ||
		r.live.Report(false).Refused.Who != "Eve" {
		t.Errorf("refused: %v", err)
	}
	r.open(state) // a restart
	if past := r.live.History(); past[0].Who != "Ann" || past[1].Who != "Sam" {
		t.Errorf("after a restart: %+v", past)
	}
}
