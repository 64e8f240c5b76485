package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

const shadowed = `experiments:
  - id: blind
    about: x
    status: running
    shadow: true
    arms: {control: {share: 50}, blind: {share: 50, set: {strategies.native.enabled: false}}}
    measure: call_found
`

// speaker is a model that thinks for 5 ms, and says a text of so many bytes, or calls read.
func speaker(size int) http.HandlerFunc {
	text := strings.Repeat("A sentence with {braces} in it, and more. ", size/42+1)[:size]
	piece := func(w io.Writer, member, value string, end bool) {
		finish := `null`
		if end {
			finish = `"stop"`
		}
		_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"gpt-oss","choices":[{"index":0,%q:{"role":"assistant",%s},"finish_reason":%s}]}`, member, value, finish)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			_, _ = io.WriteString(w, `{"data":[{"id":"gpt-oss"}]}`)
			return
		}
		doc, _ := io.ReadAll(r.Body)
		time.Sleep(5 * time.Millisecond) // a model takes its time
		if !strings.Contains(string(doc), `"stream":true`) {
			content, _ := json.Marshal(text)
			piece(w, "message", `"content":`+string(content), true)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for at := 0; at < len(text); at += 1024 {
			content, _ := json.Marshal(text[at:min(at+1024, len(text))])
			_, _ = io.WriteString(w, "data: ")
			piece(w, "delta", `"content":`+string(content), at+1024 >= len(text))
			_, _ = io.WriteString(w, "\n\n")
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// A shadow costs an answer nothing: the time of answers, and the memory, without an experiment and
// with a shadow, and with one that never gets its turn. Large replies make it slow: it reads each of
// them twice.
func BenchmarkShadow(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 900 << 10} {
		for _, stream := range []bool{false, true} {
			for _, mode := range []string{"none", "shadow", "unread"} {
				b.Run(fmt.Sprintf("%dKB/stream=%t/%s", size>>10, stream, mode),
					func(b *testing.B) { benchShadow(b, size, stream, mode) })
			}
		}
	}
}

func benchShadow(b *testing.B, size int, stream bool, mode string) {
	experiments := "experiments: []\n"
	if mode != "none" {
		experiments = shadowed
	}
	set := trying(b, experiments)
	l := openTracker(b, "", io.Discard)
	r := provider.Start(b, provider.Setup{Set: set, Extend: tracked(l)}, speaker(size))
	ctx, stop := context.WithCancel(b.Context())
	var shadows sync.WaitGroup
	if mode == "shadow" {
		shadows.Go(func() { l.Shadows(ctx) })
	}
	defer shadows.Wait()
	defer stop()
	body := `{` + provider.BothTools + `,"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`
	if stream {
		body = `{"stream":true,` + body[1:]
	}
	var most atomic.Uint64
	shadows.Go(func() { peak(ctx, &most) })
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var callers sync.WaitGroup
	b.ResetTimer()
	for range 4 {
		callers.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				began := time.Now()
				res, err := r.Do(b.Context(), http.MethodPost, "/v1/chat/completions", body, "session_id",
					fmt.Sprint("s", n))
				if err != nil {
					b.Error(err)
					return
				}
				read, err := io.Copy(io.Discard, res.Body)
				if _ = res.Body.Close(); err != nil || read < int64(size) {
					b.Errorf("%d bytes, %v", read, err)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	b.StopTimer()
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[int(p*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(most.Load())/(1<<20), "heap-MB")
	var held runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&held)
	b.ReportMetric(float64(held.HeapAlloc)/(1<<20), "live-MB")
	if mode != "none" && b.N > 1 {
		s := l.Reports(set)[0].Shadow
		b.ReportMetric(100*float64(s.Read)/float64(b.N), "read-%")
	}
}

// peak notes how large the heap ever was.
func peak(ctx context.Context, most *atomic.Uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for ctx.Err() == nil {
		metrics.Read(sample)
		most.Store(max(most.Load(), sample[0].Value.Uint64()))
		time.Sleep(2 * time.Millisecond) // between two samples
	}
}
