package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// childOf is the environment variable that makes this test program a server: with the setting
// console, in front of a model server.
const childOf = "CONSOLE_BENCH_CHILD"

// TestChild is the server of BenchmarkTurns, in a process of its own: its processor time is its own.
func TestChild(t *testing.T) {
	mode, upstream, ok := strings.Cut(os.Getenv(childOf), " ")
	if !ok {
		t.Skip("only BenchmarkTurns needs it")
	}
	s := stage.Open(t, func(s *config.Settings) {
		config.Of[console.Settings](s).Console, s.Upstream, s.LogLevel = mode, upstream, "info"
	}, http.NotFoundHandler())
	fmt.Printf("at %s %s\n", s.Chat, s.Console)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
}

// child is such a server.
type child struct {
	cmd           *exec.Cmd
	chat, console string
}

func begin(b *testing.B, mode, upstream string) *child {
	c := &child{cmd: exec.Command(os.Args[0], "-test.run", "^TestChild$", "-test.v")}
	c.cmd.Env = append(os.Environ(), childOf+"="+mode+" "+upstream)
	in, err := c.cmd.StdinPipe()
	ruletest.Must(b, err)
	out, err := c.cmd.StdoutPipe()
	ruletest.Must(b, err)
	ruletest.Must(b, c.cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		if err := c.cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	for c.chat == "" && lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 3 && f[0] == "at" {
			c.chat, c.console = f[1], f[2]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return c
}

// processor is the time that the process has had.
func (c *child) processor(b *testing.B) time.Duration {
	var all time.Duration
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", c.cmd.Process.Pid))
	if err != nil {
		b.Skip("only Linux tells the processor time of another process")
	}
	for _, task := range tasks {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", c.cmd.Process.Pid,
			task.Name())); err == nil {
			n, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
			all += time.Duration(n)
		}
	}
	return all
}

// watch is a console that is open on the live list, and reads, until its context ends.
func watch(t testing.TB, ctx context.Context, client *http.Client, console string, all *sync.WaitGroup) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, console+"/console/events?turns=1", nil)
	ruletest.Must(t, err)
	res, err := client.Do(req)
	ruletest.Must(t, err)
	all.Go(func() {
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
	})
}

// BenchmarkTurns serves 1,000 turns a second, or as many as the machine does, by a server without a
// console, one at whose console nobody looks, and the same with five consoles open, in turns. The
// figures are of the server's own process; a turn is a reply that is mended, with a call.
func BenchmarkTurns(b *testing.B) {
	const rate, round = 1000, 1000
	up := httptest.NewServer(stage.Model(map[string]script.Reply{"list": script.LeakedTurn("read",
		`{'path':"reports/june.md",}`)}))
	b.Cleanup(up.Close)
	off, on := begin(b, "off", up.URL+"/v1"), begin(b, "on", up.URL+"/v1")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.Cleanup(client.CloseIdleConnections)
	var sessions atomic.Int64
	body := `{"model":"gpt-oss","stream":true,"tools":` + stage.Tools +
		`,"messages":[{"role":"user","content":"list"}]}`
	ask := func(c *child) {
		req, err := http.NewRequest(http.MethodPost, c.chat+"/chat/completions", strings.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		// one may not ask as often as this
		req.Header.Set("session_id", strconv.FormatInt(sessions.Add(1), 10))
		res, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return
		}
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "tool_calls") {
			b.Errorf("%v: %s", err, text)
		}
	}
	serve := func(c *child) (took, cpu time.Duration) {
		began, used := time.Now(), c.processor(b)
		var all sync.WaitGroup
		var next atomic.Int64
		for range 16 {
			all.Go(func() {
				for n := next.Add(1); n <= round; n = next.Add(1) {
					time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / rate))) // the rate of the load
					ask(c)
				}
			})
		}
		all.Wait()
		return time.Since(began), (c.processor(b) - used) / round
	}
	serve(off)
	serve(on)
	modes := []string{"off", "idle", "five"}
	turns, cpus, more := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for i := 0; b.Loop(); i++ {
		this := map[string]float64{}
		for k := range modes {
			mode, c := modes[(i+k)%len(modes)], on // each is the first as often
			ctx, stop := context.WithCancel(context.Background())
			var watching sync.WaitGroup
			switch mode {
			case "off":
				c = off
			case "five":
				for range 5 {
					watch(b, ctx, client, on.console, &watching)
				}
			}
			took, cpu := serve(c)
			stop()
			watching.Wait()
			turns[mode], cpus[mode], this[mode] = append(turns[mode],
				round/took.Seconds()), append(cpus[mode], float64(cpu)), float64(cpu)
		}
		for _, mode := range modes {
			more[mode] = append(more[mode], 100*(this[mode]/this["off"]-1))
		}
	}
	for _, mode := range modes {
		b.ReportMetric(median(turns[mode]), mode+"-turns/s")
		b.ReportMetric(median(cpus[mode])/1000, mode+"-µs/turn")
		b.ReportMetric(median(more[mode]), mode+"-%")
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
