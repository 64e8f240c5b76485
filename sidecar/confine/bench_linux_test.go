package confine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart is what confining adds to the start of bash, within one process. The start
// of the program itself comes on top where confine is a command.
func BenchmarkStart(b *testing.B) {
	for name, change := range map[string]func(*Box){
		"plain": func(*Box) {},
		"mounts": func(box *Box) {
			box.Fixed = []string{box.Dir}
			box.Write = append(box.Write, box.Dir)
		},
	} {
		b.Run(name, func(b *testing.B) {
			box := fit(b, "bash", "-c", "true")
			change(&box)
			var bare, confined time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := exec.Command("bash", "-c", "true").Run(); err != nil {
					b.Fatal(err)
				}
				bare += time.Since(begin)
				begin = time.Now()
				if code, err := Run(box, Streams{Out: os.Stdout, Err: os.Stderr}); code != 0 || err != nil {
					b.Fatal(code, err)
				}
				confined += time.Since(begin)
			}
			b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "bare-µs/op")
			b.ReportMetric(float64((confined-bare).Microseconds())/float64(b.N), "added-µs/op")
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
			script := "import os,socket,time\nN=2000\nt=time.perf_counter()\n" + code + "\nprint((time.perf_counter()-t)*1e6/N)"
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
