package fit

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func shippedFiles(t testing.TB) rulefile.Files {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS(ruletest.Root()))
	ruletest.Must(t, err)
	return files
}

const (
	// A weight within one step of rounding is fresh: a change elsewhere that moves it by a
	// hundredth must not fail.
	stepOf = 0.1
	// Seeds that no fit draws by itself.
	otherSeed  = 5_000_000
	otherCount = 12_000
	// How far scores and shares may be apart, on average over the texts of a class. The class exec
	// has about 125 texts in so many replies; over other seeds it is 0.027 off, with a standard
	// deviation of 0.006. Half of that is chance, the rest is the pull of the prior, which keeps
	// scores from the ends. Weights of half the size are 0.08 off.
	farthest = 0.05
	// So few texts of a class would say nothing.
	fewest = 100
)

// stale names the weights that are not what a fit gives.
func stale(shipped, fitted parse.Weights) (out []string) {
	for s := range parse.Count {
		if math.Abs(shipped.Of[s]-fitted.Of[s]) > stepOf+1e-9 {
			out = append(out, fmt.Sprintf("%v: %g, and a fit gives %g", s, shipped.Of[s], fitted.Of[s]))
		}
	}
	return out
}

// miscalibrated names the classes whose scores are not the share of calls.
func miscalibrated(s Samples, w *parse.Weights) (out []string) {
	for _, class := range Classes() {
		curve := s.Curve(w, class)
		if n := s.Total(class).all(); n < fewest {
			out = append(out, fmt.Sprintf("class %s: only %d texts", class, n))
		} else if off := Off(curve); off > farthest {
			out = append(out, fmt.Sprintf("class %s: scores are %.3f off, on average of %d texts", class, off,
				n))
		}
	}
	return out
}

// The weights in rules/evidence.yaml are those that a fit gives, and their scores mean what
// they say, on replies that were not used. Weights that were changed are found out.
func TestShippedWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraw draws in several goroutines, too")
	}
	set, shipped, prior, err := begin(shippedFiles(t))
	ruletest.Must(t, err)
	used, err := Draw(set, UsualSeed, UsualCount)
	ruletest.Must(t, err)
	fitted := Weights(used.All, prior)
	kept, err := Draw(ruletest.Shipped(t), otherSeed, otherCount)
	ruletest.Must(t, err)
	if list := stale(shipped, fitted); len(list) > 0 {
		t.Errorf("rules/evidence.yaml is stale; write it anew with: go run . reading fit --rules rules --write\n%s", strings.Join(list, "\n"))
	}
	if list := miscalibrated(kept.All, &shipped); len(list) > 0 {
		t.Errorf("the scores of rules/evidence.yaml do not mean what they say:\n%s", strings.Join(list, "\n"))
	}
	for name, change := range map[string]func(w *parse.Weights){
		"one is 0.2 higher":     func(w *parse.Weights) { w.Of[parse.Fits] += 0.2 },
		"one has gone":          func(w *parse.Weights) { w.Of[parse.Quoted] = 0 },
		"all are half of it":    halve,
		"all are those by hand": func(w *parse.Weights) { w.Of = prior.Of },
	} {
		w := shipped
		if change(&w); len(stale(w, fitted)) == 0 {
			t.Errorf("%s, and nobody has noticed", name)
		}
	}
	half := shipped
	if halve(&half); len(miscalibrated(kept.All, &half)) != len(Classes()) {
		t.Errorf("weights are half of what they should be, and only this is wrong: %v",
			miscalibrated(kept.All, &half))
	}
	if len(miscalibrated(Samples{}, &shipped)) != len(Classes()) {
		t.Error("calibrated on nothing")
	}
}

func halve(w *parse.Weights) {
	for s := range w.Of {
		w.Of[s] /= 2
	}
}

// The same seeds give the same samples, however many goroutines read; others are others.
func TestDraw(t *testing.T) {
	set := ruletest.Shipped(t)
	all, err := Draw(set, 1, 600)
	ruletest.Must(t, err)
	parts := newDrawn()
	for at := range 7 {
		one, err := draw(set, 1, 600, at, 7)
		ruletest.Must(t, err)
		parts.All.join(one.All)
	}
	if len(all.All) == 0 || len(all.All.Without(parts.All)) > 0 || len(parts.All.Without(all.All)) > 0 {
		t.Errorf("%v in one, %v in parts", all.All, parts.All)
	}
	for op, s := range all.Of {
		for k, n := range s {
			if m := all.All[k]; n.Calls > m.Calls || n.Texts > m.Texts {
				t.Errorf("%s has %v of %v, all replies have %v", op, n, k, m)
			}
		}
	}
}

func TestCases(t *testing.T) {
	const tools = `"tools":["read"]`
	reply := func(text, expect string) string {
		return fmt.Sprintf(`{"message":{"content":%q},%s,"expect":%s}`, text, tools, expect)
	}
	call := `{"name":"read","arguments":{"path":"a"}}`
	good := []string{
		reply(call, `{"calls":[`+call+`]}`), reply(call, `{"calls":[]}`), "", // the second one is kept
		reply(call, `{"calls":[{"name":"read"}]}`), reply(call, `{"calls":[]}`),
		reply(call, `{"calls":[{"name":"read","arguments":{"path":"b"}}]}`),
	}
	cases, err := Cases(strings.NewReader(strings.Join(good, "\n")))
	ruletest.Must(t, err)
	r, err := Run(Job{Files: shippedFiles(t), Cases: cases})
	ruletest.Must(t, err)
	if used, kept := r.Used.All.Total(""), r.Kept.All.Total(""); used != (Count{2, 1}) ||
		kept != (Count{0, 2}) {
		t.Errorf("used %+v, kept %+v", used, kept)
	}
	if r.New.Of != parse.Prior().Of {
		t.Errorf("three replies have moved weights to %v", r.New.Of)
	}
	for bad, want := range map[string]string{
		"{":                                    "line 1: unexpected end of JSON input",
		"\n\n" + reply("x", `{"content":"x"}`): "line 3: it does not say which calls are meant",
		reply("x", `null`):                     "line 1: it does not say which calls are meant",
		reply("x", `{"calls":1}`):              "line 1: expect",
	} {
		if _, err := Cases(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
	cases, err = Cases(strings.NewReader(`{"message":{"content":"x"},"tools":[1],"expect":{"calls":[]}}`))
	ruletest.Must(t, err)
	if _, err := Run(Job{Files: shippedFiles(t), Cases: cases}); err == nil ||
		!strings.Contains(err.Error(), "line 1: tools[0]") {
		t.Errorf("a tool that is none: %v", err)
	}
}

// Weights are written in place: comments, thresholds and all else stay.
func TestWritten(t *testing.T) {
	files := shippedFiles(t)
	_, shipped, _, err := begin(files)
	ruletest.Must(t, err)
	same, err := Written(files, shipped)
	if err != nil || same != files[File] {
		t.Errorf("the same weights change the file: %v", err)
	}
	other := shipped
	other.Of[parse.Open] = -1.5
	text, err := Written(files, other)
	ruletest.Must(t, err)
	was := fmt.Sprintf("{sign: open, weight: %g,", shipped.Of[parse.Open])
	if text != strings.Replace(files[File], was, "{sign: open, weight: -1.5,", 1) || text == files[File] {
		t.Errorf("written:\n%s", text)
	}
	set, err := Under(files, other)
	ruletest.Must(t, err)
	if set.Strategies("").Weights() != other {
		t.Errorf("read as %+v", set.Strategies("").Weights())
	}
	delete(files, File)
	if _, err := Written(files, other); err == nil {
		t.Error("written into a file that is not there")
	}
}
