package experiment

import (
	"encoding/json"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// A series reaches from the beginning to now, stays within its bound, survives a restart, and
// its last point says what the report says.
func TestSeries(t *testing.T) {
	set, c := rules(t, "    guards: [{measure: denied}, {measure: failed}]\n"), &clock{time.Unix(1e9,
		0).UTC()}
	began := c.now
	l := open(t, filepath.Join(t.TempDir(), CountsFile), c)
	look := func(looks int) {
		for range looks {
			c.now = c.now.Add(every)
			l.Review(set)
		}
	}
	look(5)
	if s := l.Reports(set)[0].Series; s != nil {
		t.Errorf("before anybody is in it there is %+v", s)
	}
	ruletest.Must(t, l.Stop(rules(t, "    phase: 7\n"), "one", "nobody was in it", "")) // begins a trial
	for _, set := range []*ruleset.Set{rules(t, "    phase: 7\n    guards: [{measure: liked}]\n"), set} {
		if doc, err := json.Marshal(l.Reports(set)); err != nil {
			t.Errorf("a report of nobody is no JSON: %v %s", err, doc)
		}
	}
	for from := 0; from < 6000; from += 20 {
		serve(l, set, from, from+20, worse)
		look(1)
	}
	ruletest.Must(t, l.Save())
	l = open(t, l.Path, c)
	serve(l, set, 6000, 6040, worse)
	look(3)
	report := l.Reports(set)[0]
	if doc, err := json.Marshal(report); err != nil || len(doc) > 256<<10 {
		t.Errorf("as JSON the report has %d bytes: %v", len(doc), err)
	}
	if len(report.Series) != 3 || report.Series[0].ID != "empty" || report.Series[1].ID != "denied" {
		t.Fatalf("%d series", len(report.Series))
	}
	points := report.Series[0].Points
	if n := len(points); n < maxPoints/3 || n > maxPoints+1 {
		t.Errorf("%d points", n)
	}
	if first := points[0].At.Sub(began); first > time.Minute*5 {
		t.Errorf("it begins %s after the experiment", first)
	}
	for i := 1; i < len(points); i++ {
		if !points[i].At.After(points[i-1].At) || points[i].Arms[0].Units < points[i-1].Arms[0].Units {
			t.Fatalf("point %d goes back: %+v %+v", i, points[i-1], points[i])
		}
	}
	last := points[len(points)-1]
	if m := report.Arms[1].Of("empty"); !last.At.Equal(c.now) || *last.Arms[1].Against != *m.Against ||
		last.Arms[1].Value != m.Value || last.Arms[1].Units != report.Arms[1].Units {
		t.Errorf("it ends with %+v %+v, the report says %+v", last, last.Arms[1].Against, m.Against)
	}
	if kind := points[len(points)/2].Arms[1].Against.Kind; kind != Worse {
		t.Errorf("in the middle the arm is %s", kind)
	}

	before := len(l.trials["one"].Series)
	look(500)
	if after := len(l.trials["one"].Series); after > before+2 {
		t.Errorf("%d points more while nothing happens", after-before)
	}
	files, err := readFolders([]string{filepath.Dir(l.Path)})
	ruletest.Must(t, err)
	if list, err := readReports(set, io.Discard, files...); err != nil || len(list[0].Series) != 3 {
		t.Errorf("the file of one server has no series: %v", err)
	}
	ruletest.Must(t, l.Stop(set, "one", "it rains", "Sam"))
	ended := c.now
	look(50)
	report = l.Reports(set)[0]
	if points := report.Series[0].Points; report.By != "Sam" || report.Why != "it rains" ||
		!points[len(points)-1].At.Equal(ended) {
		t.Errorf("stopped: %q %q, the last point is %s", report.Why, report.By, points[len(points)-1].At)
	}
}

// The series of an experiment that its file stops between two looks ends with all units, once, and at once.
func TestSeriesStoppedByFile(t *testing.T) {
	c := &clock{time.Unix(1e9, 0).UTC()}
	l := open(t, filepath.Join(t.TempDir(), CountsFile), c)
	running, stopped := rules(t, ""), rulesOf(t, "stopped", "")
	serve(l, running, 0, 100, worse)
	l.Review(running)
	serve(l, running, 100, 700, worse)
	for range 3 { // the first time before it was looked at again
		c.now = c.now.Add(time.Second)
		report := l.Reports(stopped)[0]
		points := report.Series[0].Points
		if n := len(points); n != 2 || points[1].Arms[1].Units != report.Arms[1].Units ||
			*points[1].Arms[1].Against != *report.Arms[1].Of("empty").Against {
			t.Errorf("%d points, the last one %+v; the report has %+v", n, points[n-1], report.Arms[1])
		}
		l.Review(stopped)
	}
}

// Counts that nobody can have made are not read.
func TestSoundSeries(t *testing.T) {
	arms := []Counts{{Name: "a"}, {Name: "b"}}
	point := func(n int) Point { return Point{Arms: make([]pointArm, n)} }
	for name, row := range map[string]struct {
		series []Point
		step   time.Duration
		sound  bool
	}{
		"none": {nil, 0, true}, "one": {[]Point{point(2)}, time.Minute, true}, "too few arms": {[]Point{point(1)}, 0, false},
		"too many points": {make([]Point, maxPoints+1), 0, false}, "a step back": {nil, -1, false},
		"less than none": {[]Point{{Arms: []pointArm{{Units: -1}, {}}}}, 0, false},
		"no tally":       {[]Point{{Arms: []pointArm{{Tallies: map[string]Tally{"x": {N: -1}}}, {}}}}, 0, false},
	} {
		if s := (&Saved{ID: "x", Arms: arms, Series: row.series, Step: row.step}); s.sound() != row.sound {
			t.Errorf("%s: sound is %v", name, !row.sound)
		}
	}
}
