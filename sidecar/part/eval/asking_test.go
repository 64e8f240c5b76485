package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// crowd is a model whose answer depends on the question alone, and whose time on nothing.
type crowd struct {
	now, most, asked atomic.Int32
	ends             func(n int32) // is told of each request, before it is answered
}

func (m *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"gpt-oss-20b"}]}`))
		return
	}
	var req struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	n := m.now.Add(1)
	defer m.now.Add(-1)
	for most := m.most.Load(); n > most && !m.most.CompareAndSwap(most, n); most = m.most.Load() {
	}
	if asked := m.asked.Add(1); m.ends != nil {
		m.ends(asked)
	}
	time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond) // answers come in any order
	content := req.Messages[len(req.Messages)-1].Content
	if len(content)%3 == 0 {
		http.Error(w, `{"error":{"message":"no such luck"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"gpt-oss-20b","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, content)
}

// ask runs 40 questions with three variants, of which two are the same; it gives the report without times.
func (m *crowd) ask(t *testing.T, ctx context.Context, at *address, l Live) (string, error) {
	t.Helper()
	at.serve(m)
	var tell, lines bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&lines, `{"id":"%d","user":%q,"expect":{"content":%q}}`+"\n", i, strings.Repeat("x", i),
			strings.Repeat("x", i-i%2))
	}
	l.URL, l.Tell, l.Wait = at.URL+"/v1", &tell, 10*time.Second
	_, err := l.Read("f", &lines)
	ruletest.Must(t, err)
	set := ruletest.Shipped(t)
	other := *set
	// eval is no crowd of callers
	other.Version, other.Limits.Caller = "other", web.Pace{AtOnce: 1, PerMinute: 1}
	variants := []Variant{{Name: "a", Set: set}, {Name: "b", Set: &other}, {Name: "c", Set: set}}
	r := NewReport(variants)
	if err := l.Run(ctx, r, variants, guard.World{}); err != nil {
		return tell.String(), err
	}
	r.Finish()
	for _, v := range r.Variants {
		v.Spent = Spent{}
		for _, c := range v.Categories {
			c.Spent = Spent{}
		}
	}
	var out bytes.Buffer
	ruletest.Must(t, r.JSON(&out))
	return out.String(), nil
}

// Several are asked at once, and no more than that; the report is the same whoever answers first,
// and variants with the same rules share their answers.
func TestLiveParallel(t *testing.T) {
	var first string
	for _, n := range []int{0, 1, 2, 8} {
		m, together := &crowd{}, make(chan struct{})
		m.ends = func(asked int32) { // the first wait for each other, however busy the machine is
			if asked == int32(n) {
				close(together)
			}
			if asked <= int32(n) {
				<-together
			}
		}
		report, err := m.ask(t, t.Context(), place(t), Live{Times: 2, Parallel: n})
		ruletest.Must(t, err)
		if first == "" {
			first = report
		}
		if report != first {
			t.Errorf("%d at once, the report is another one:\n%s\n%s", n, report, first)
		}
		if m.asked.Load() != 156 { // 39 of the cases ask something
			t.Errorf("%d at once: asked %d times", n, m.asked.Load())
		}
		if got := int(m.most.Load()); got > max(n, 1) || got < max(n, 1) {
			t.Errorf("%d at once, and not %d", got, n)
		}
	}
}

// A run that is stopped with several on their way asks those again, and no others.
func TestLiveStopped(t *testing.T) {
	file, here := filepath.Join(t.TempDir(), "answers"), place(t)
	ctx, stop := context.WithCancel(t.Context())
	first := &crowd{ends: func(n int32) {
		if n == 50 {
			stop()
		}
	}}
	if said, err := first.ask(t, ctx, here, Live{Times: 2, Parallel: 8, Answers: file}); err == nil ||
		first.asked.Load() > 58 {
		t.Fatalf("it asked %d times: %v\n%s", first.asked.Load(), err, said)
	}
	second, whole := &crowd{}, &crowd{}
	resumed, err := second.ask(t, t.Context(), here, Live{Times: 2, Parallel: 8, Answers: file})
	ruletest.Must(t, err)
	report, err := whole.ask(t, t.Context(), here, Live{Times: 2})
	ruletest.Must(t, err)
	if n := second.asked.Load(); n < 106 || n > 156-20 { // what failed is asked again, a third
		t.Errorf("asked again: %d", n)
	}
	if resumed != report {
		t.Errorf("resumed:\n%s\nin one go:\n%s", resumed, report)
	}
}

// The times of a case are one observation. Where each case has a variant of its own that does better
// with it, and none is better on the whole, times as observations say "hardly chance" again and again.
func TestTimesAreOneObservation(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	const runs, cases, times = 2000, 30, 10
	clustered, single := 0, 0
	for i := range runs {
		draw := rand.New(rand.NewPCG(uint64(i), 3))
		r := &Report{Variants: []*Sum{{Name: "a"}, {Name: "b"}}}
		lone := &Report{Variants: r.Variants}
		for c := range cases {
			p := [2]float64{0.9, 0.4}
			if draw.IntN(2) == 0 {
				p[0], p[1] = p[1], p[0]
			}
			for range times {
				row := Row{Labelled: true, Made: []*Made{{Right: draw.Float64() < p[0]},
					{Right: draw.Float64() < p[1]}}}
				lone.All = append(lone.All, row)
				row.unit = fmt.Sprint("case ", c)
				r.All = append(r.All, row)
			}
		}
		clustered += count(r.pair(0, 1).P <= 0.05)
		single += count(lone.pair(0, 1).P <= 0.05)
	}
	t.Logf("no variant is better: said to be in %.1f %%, with each time for itself in %.1f %%",
		100*float64(clustered)/runs, 100*float64(single)/runs)
	if clustered > runs/20 || single < runs/5 {
		t.Errorf("%d and %d of %d", clustered, single, runs)
	}
}

// What a case says, and what a headline may say of it.
func TestPair(t *testing.T) {
	right := func(unit string, a, b bool) Row {
		return Row{Labelled: true, unit: unit, Made: []*Made{{Right: a}, {Right: b}}}
	}
	var rows []Row
	for range 50 { // one case, in which b is right and a is not
		rows = append(rows, right("one", false, true))
	}
	for i := range 12 {
		rows = append(rows, right(fmt.Sprint(i), true, false), right(fmt.Sprint(i), true, true),
			right("even", i%2 == 0, i%2 == 1))
	}
	r := &Report{Variants: []*Sum{{Name: "a", Right: 30, Labelled: 86, Steady: &Steady{}},
		{Name: "b", Right: 68, Labelled: 86}}, All: rows}
	r.Pairs = []Pair{r.pair(0, 1)}
	if p := r.Pairs[0]; p.OnlyA != 18 || p.OnlyB != 56 || p.Both != 12 || p.CasesA != 12 || p.CasesB != 1 ||
		p.P > 0.05 {
		t.Errorf("%+v", p)
	}
	if said := r.Headline(); !strings.Contains(said, "in 1 of 13 cases that differ, and that may be chance") {
		t.Error(said)
	}
}
