package console_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/console/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// watch is a console that is open on the live list, and reads. It ends with its context.
func watch(t testing.TB, ctx context.Context, s *stage.Server, all *sync.WaitGroup) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Console+"/console/events?turns=1", nil)
	ruletest.Must(t, err)
	res, err := (&http.Client{Transport: s.HTTP.Transport}).Do(req)
	ruletest.Must(t, err)
	all.Go(func() {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
		}
	})
}

// BenchmarkTurns serves turns as fast as it can without a console, with one that nobody looks at,
// and with five that are open, in turns. What a mode costs is the processor time of a turn,
// callers and model server included, beside that without a console.
func BenchmarkTurns(b *testing.B) {
	const callers, round = 8, 200
	replies := map[string]script.Reply{"list": script.LeakedTurn("exec", `{"cmd":"ls -l reports",}`)}
	off := stage.Open(b, func(s *config.Settings) { s.Console = "off" }, stage.Model(replies))
	on := stage.Open(b, nil, stage.Model(replies))
	serve := func(s *stage.Server) (perTurn, cpu time.Duration) {
		began, used := time.Now(), processor(b)
		var all sync.WaitGroup
		for n := range callers {
			all.Go(func() {
				for i := range round / callers {
					session := fmt.Sprint("session ", time.Now().UnixNano(), n, i) // one may not ask as often as this
					if answer := s.Ask(session, "list", true); !strings.Contains(answer, "tool_calls") {
						b.Error(answer)
					}
				}
			})
		}
		all.Wait()
		return time.Since(began) / round, (processor(b) - used) / round
	}
	modes := []string{"off", "idle", "five"}
	times, cpus, more := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	serve(off)
	serve(on)
	for i := 0; b.Loop(); i++ {
		this := map[string]float64{}
		for k := range modes {
			mode := modes[(i+k)%len(modes)] // each is the first as often
			s, ctx, stop := on, context.Background(), func() {}
			var watching sync.WaitGroup
			switch mode {
			case "off":
				s = off
			case "five":
				ctx, stop = context.WithCancel(ctx)
				for range 5 {
					watch(b, ctx, on, &watching)
				}
			}
			took, cpu := serve(s)
			stop()
			watching.Wait()
			times[mode], cpus[mode], this[mode] = append(times[mode], float64(took)), append(cpus[mode], float64(cpu)), float64(cpu)
		}
		for _, mode := range modes {
			more[mode] = append(more[mode], 100*(this[mode]/this["off"]-1))
		}
	}
	for _, mode := range modes {
		b.ReportMetric(1e9/median(times[mode]), mode+"-turns/s")
		b.ReportMetric(median(cpus[mode])/1000, mode+"-cpu-µs/turn")
		b.ReportMetric(median(more[mode]), mode+"-%")
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// processor is the time that this process has had.
func processor(t testing.TB) time.Duration {
	var u syscall.Rusage
	ruletest.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
