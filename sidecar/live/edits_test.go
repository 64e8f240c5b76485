package live_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// settles is how long the watch waits between two reads. What lies on the disk for longer in the
// middle of a save is an edit of its own to it.
const settles = 25 * time.Millisecond

// editing is a sidecar under load whose rules are edited. Edit i makes probe mean
// tool_i%8, by aliases.yaml, and sends the seed i to the model, by models.yaml. The
// model answers each request with a call of probe that holds the seed. So an answer
// tells which edit of both files it was made under.
type editing struct {
	t         testing.TB
	r         *provider.Server
	dir       string // holds the files, or links to them
	now       rulefile.Files
	last      int // edit
	mu        sync.Mutex
	made      map[string]made // by version
	answers   atomic.Int64
	taken     int // reloads that there must have been
	refused   int
	stalled   int       // times that the machine stood still in a save: one more reload each is right
	stepped   time.Time // when the last step of this save began
	latencies []time.Duration
}

// made is what a version says: the edits that its two files are of. They differ where
// the machine stood still between writing the one and the other.
type made struct{ aliases, models int }

// echo is a model server that calls probe with the seed it was asked with.
func echo(w http.ResponseWriter, req *http.Request) {
	if !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		http.NotFound(w, req)
		return
	}
	body, _ := io.ReadAll(req.Body)
	seed := regexp.MustCompile(`"seed":(\d+)`).FindSubmatch(body)
	if seed == nil {
		http.Error(w, "no seed", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range []string{"[TOOL:pr", "obe|n=" + string(seed[1]), "]"} {
		fmt.Fprintf(w, "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
		w.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond) // so that edits come between the pieces
	}
	fmt.Fprint(w, "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// files are those of edit i.
func (e *editing) files(i int) rulefile.Files {
	out := maps.Clone(e.now)
	out["aliases.yaml"] = fmt.Sprintf("version: 1\ninclude: [builtin/aliases.yaml]\n# %d\ntools: {tool_%d: [probe]}\n", i, i%8)
	out["models.yaml"] = fmt.Sprintf("version: 1\nmodels:\n  - {id: gpt-oss, about: All., mode: provider, name: m, sampling: {seed: %d}}\n", i)
	return out
}

// underLoad starts everything, with so many streams at once.
func underLoad(t testing.TB, streams int, links bool) *editing {
	t.Helper()
	e := &editing{t: t, dir: filepath.Join(t.TempDir(), "rules"), now: rulefile.Files{},
		made: map[string]made{}}
	for _, name := range provider.Loader().FileNames() {
		e.now[name] = "version: 1\ninclude: [builtin/" + name + "]\n"
	}
	e.put(0)
	if links {
		e.swapLinks()
		for name := range e.now {
			ruletest.Must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(e.dir, name)))
		}
	} else {
		ruletest.Must(t, os.MkdirAll(e.dir, 0o755))
		for name, text := range e.now {
			ruletest.Must(t, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o644))
		}
	}
	e.r = provider.Start(t, provider.Setup{Server: "generic"}, http.HandlerFunc(echo))
	e.watch()
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for range streams {
		workers.Go(func() {
			for ctx.Err() == nil {
				e.ask(ctx)
			}
		})
	}
	t.Cleanup(func() { stop(); workers.Wait() })
	time.Sleep(200 * time.Millisecond) // past the first look of the watch
	return e
}

func (e *editing) watch() {
	rules, err := live.Open(provider.Loader(), ruletest.Source(e.t, e.dir), "", e.r.Logger, e.r.Metrics)
	ruletest.Must(e.t, err)
	e.r.Rules.Rules = rules
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { rules.Watch(ctx); close(ended) }()
	e.t.Cleanup(func() { stop(); <-ended })
}

// put notes the files of edit i after edit e.last, so that their versions are known.
func (e *editing) put(i int) {
	old, all := e.now, e.files(i)
	e.note(all, made{i, i})
	for _, half := range []struct {
		file string
		made made
	}{{"models.yaml", made{i, e.last}}, {"aliases.yaml", made{e.last, i}}} {
		files := maps.Clone(all)
		files[half.file] = old[half.file]
		e.note(files, half.made)
	}
	e.now, e.last = all, i
}

func (e *editing) note(files rulefile.Files, m made) {
	src := ruletest.Source(e.t, e.dir)
	whole, err := src.Whole(files)
	ruletest.Must(e.t, err)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made[whole.Version()] = m
}

var probed = regexp.MustCompile(`"name":"tool_(\d)".*"arguments":"\{\\"n\\":\\?"?\\?"?(\d+)`)

// ask streams one request and checks that the answer was made under one edit, the
// one its header names.
func (e *editing) ask(ctx context.Context) {
	tools := make([]string, 8)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"type":"function","function":{"name":"tool_%d"}}`, i)
	}
	res, err := e.r.Do(ctx, http.MethodPost, "/v1/chat/completions",
		provider.Body(provider.Streaming+`,"tools":[`+strings.Join(tools, ",")+`]`))
	if err != nil {
		if ctx.Err() == nil {
			e.t.Errorf("request: %v", err)
		}
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	by, known := e.made[res.Header.Get(web.RulesVersion)]
	e.mu.Unlock()
	m := probed.FindSubmatch(body)
	if err != nil || res.StatusCode != 200 || !known || m == nil ||
		string(m[1]) != strconv.Itoa(by.aliases%8) || string(m[2]) != strconv.Itoa(by.models) {
		e.t.Errorf("under %s (%+v, known %v): %d %v %s", res.Header.Get(web.RulesVersion), by, known,
			res.StatusCode, err, body)
	}
	e.answers.Add(1)
}

// count is how often the log holds an event.
func (e *editing) count(event string) int {
	return strings.Count(e.r.Log.String(), "event="+event)
}

// good writes edit i by one of the ways to save, and waits until it is in force.
func (e *editing) good(i int, save func(e *editing)) {
	before := e.r.Rules.Set().Version
	e.put(i)
	e.stepped = time.Time{}
	save(e)
	wrote := time.Now()
	e.taken++
	ruletest.Soon(e.t, fmt.Sprintf("edit %d is in force", i), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		now := e.r.Rules.Set().Version
		return now != before && e.made[now] == (made{i, i})
	})
	e.latencies = append(e.latencies, time.Since(wrote))
}

// bad writes a mistake, and waits until it is refused: nothing changes by it.
func (e *editing) bad(i int, save func(e *editing)) {
	before, was, refused := e.r.Rules.Set().Version, e.now, e.count("rules_refused")
	name, text := mistakes[i%len(mistakes)][0], mistakes[i%len(mistakes)][1]
	e.now = maps.Clone(e.now)
	e.now[name] = text + fmt.Sprintf("\n# %d\n", i)
	e.stepped = time.Time{}
	save(e)
	e.refused++
	ruletest.Soon(e.t, fmt.Sprintf("mistake %d is refused", i),
		func() bool { return e.count("rules_refused") > refused })
	if now := e.r.Rules.Set().Version; now != before {
		e.t.Errorf("mistake %d is in force as %s", i, now)
	}
	e.now = was
}

// edits makes n edits in a row, a third of them mistakes.
func (e *editing) edits(n int, ways ...func(*editing)) {
	for i := 1; i <= n; i++ {
		way := ways[i%len(ways)]
		if i%3 == 0 {
			e.bad(i, way)
		} else {
			e.good(i, way)
		}
	}
}

// check compares the reloads with the edits.
func (e *editing) check() {
	e.t.Helper()
	time.Sleep(300 * time.Millisecond) // for a reload too many
	taken, refused, reverted := e.count("rules_taken"), e.count("rules_refused"), e.count("rules_reverted")
	if extra := taken + refused - e.taken - e.refused; extra < 0 || extra > e.stalled || reverted > 0 {
		e.t.Errorf("%d reloads and %d refusals for %d edits and %d mistakes; %d stalled", taken, refused,
			e.taken, e.refused, e.stalled)
	}
	slices.SortFunc(e.latencies, cmp.Compare)
	e.t.Logf("%d edits, %d mistakes, %d answers; in force %s after the last write (median), %s at most",
		e.taken, e.refused,
		e.answers.Load(), e.latencies[len(e.latencies)/2].Round(time.Millisecond),
		e.latencies[len(e.latencies)-1].Round(time.Millisecond))
}

// howMany edits: EDITS in the environment, or a few.
func howMany(short bool) int {
	if n, err := strconv.Atoi(os.Getenv("EDITS")); err == nil && n > 0 {
		return n
	}
	if short {
		return 6
	}
	return 12
}

// TestEditsUnderLoad: however rules are saved while streams are served, each change
// of content is one reload, no mistake takes effect, and no request fails or sees
// two versions.
func TestEditsUnderLoad(t *testing.T) {
	n, streams := howMany(testing.Short()), 64
	if testing.Short() {
		streams = 8 // at each moment some are in the middle of an answer, and the processor is free for edits
	}
	t.Run("files", func(t *testing.T) {
		e := underLoad(t, streams, false)
		e.edits(n*3/4, (*editing).write, (*editing).rename, (*editing).chunks)
		e.check()
	})
	t.Run("ConfigMap", func(t *testing.T) {
		e := underLoad(t, streams, true)
		e.edits(n/4, (*editing).swapLinks)
		e.check()
	})
}

// BenchmarkEdit measures how long a saved edit takes to be in force, with 64 streams
// being served and with none.
func BenchmarkEdit(b *testing.B) {
	for _, streams := range []int{0, 64} {
		b.Run(strconv.Itoa(streams), func(b *testing.B) {
			e := underLoad(b, streams, false)
			for i := 1; b.Loop(); i++ {
				e.good(i, (*editing).write)
			}
			slices.Sort(e.latencies)
			b.ReportMetric(float64(e.latencies[len(e.latencies)/2].Milliseconds()), "ms/median")
		})
	}
}
