package walls

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart is what confining adds to the start of bash: within one process, and by the
// whole program, which a gateway starts for each command. Bare and confined take turns; the
// quickest of each and the middle one are told, since other work on a machine only adds.
func BenchmarkStart(b *testing.B) {
	inside := func(change func(*Box)) func(*testing.B) func() error {
		return func(b *testing.B) func() error {
			box := fit(b, "bash", "-c", "true")
			change(&box)
			return func() error {
				code, err := Run(box, Streams{Out: os.Stdout, Err: os.Stderr})
				if err == nil && code != 0 {
					err = fmt.Errorf("exit code %d", code)
				}
				return err
			}
		}
	}
	for name, prepare := range map[string]func(*testing.B) func() error{
		"plain": inside(func(*Box) {}),
		"mounts": inside(func(box *Box) {
			box.Fixed = []string{box.Dir}
			box.Write = append(box.Write, box.Dir)
		}),
		"program": func(b *testing.B) func() error {
			dir := b.TempDir()
			program := filepath.Join(dir, "gpt-oss-executor")
			build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../../..")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				b.Fatalf("%s%v", out, err)
			}
			return func() error {
				return exec.Command(program, "confine", "--write", dir, "--", "bash", "-c", "true").Run()
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			run := prepare(b)
			var bare, confined []time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := exec.Command("bash", "-c", "true").Run(); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if err := run(); err != nil {
					b.Fatal(err)
				}
				bare, confined = append(bare, middle.Sub(begin)), append(confined, time.Since(middle))
			}
			slices.Sort(bare)
			slices.Sort(confined)
			b.ReportMetric(float64((confined[0] - bare[0]).Microseconds()), "added-least-µs")
			b.ReportMetric(float64((confined[b.N/2] - bare[b.N/2]).Microseconds()), "added-median-µs")
			b.ReportMetric(float64(bare[b.N/2].Microseconds()), "bare-median-µs")
		})
	}
}

// BenchmarkMediated is what a call costs that the supervisor does: a chmod, a connection.
func BenchmarkMediated(b *testing.B) {
	for name, code := range map[string]string{
		"chmod":   "open('f','w')\nfor i in range(N): os.chmod('f', 0o600)",
		"connect": "s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(64)\nfor i in range(N):\n c=socket.socket(); c.connect(s.getsockname()); s.accept()[0].close(); c.close()",
	} {
		b.Run(name, func(b *testing.B) {
			script := "import os,socket,time\nN=2000\nt=time.perf_counter()\n" + code +
				"\nprint((time.perf_counter()-t)*1e6/N)"
			box := fit(b, "/usr/bin/python3", "-c", script)
			var bare, confined float64
			for b.Loop() {
				c := exec.Command(box.Command[0], box.Command[1:]...)
				c.Dir = b.TempDir()
				out, err := c.Output()
				if err != nil {
					b.Skip(err)
				}
				bare += number(b, string(out))
				var text strings.Builder
				if code, err := Run(box, Streams{Out: &text, Err: os.Stderr}); code != 0 || err != nil {
					b.Fatal(code, err)
				}
				confined += number(b, text.String())
			}
			b.ReportMetric(bare/float64(b.N), "bare-µs/call")
			b.ReportMetric((confined-bare)/float64(b.N), "added-µs/call")
		})
	}
}

func number(b *testing.B, text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
