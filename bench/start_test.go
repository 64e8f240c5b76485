//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkStart starts the built program, alone and before a confined command, an empty program
// of Go and a bash in turn, and says how long each takes, in the median. BEFORE may name another
// build of the program.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	empty := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	build := func(name, of string) string {
		out := filepath.Join(dir, name)
		c := exec.Command("go", "build", "-trimpath", "-o", out, of)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
		return out
	}
	type program struct {
		name string
		args []string
	}
	now := build("program", "..")
	programs := []program{
		{"program", []string{now, "--help"}},
		{"empty", []string{build("empty", empty)}},
		{"bash", []string{"bash", "-c", "true"}},
	}
	confined := []string{"confine", "--write", dir, "--", "bash", "-c", "true"}
	can := exec.Command(now, confined...).Run() == nil
	if can {
		programs = append(programs, program{"confined", append([]string{now}, confined...)})
	}
	if before := os.Getenv("BEFORE"); before != "" {
		programs = append(programs, program{"program-before", []string{before, "--help"}})
		if can {
			programs = append(programs, program{"confined-before", append([]string{before}, confined...)})
		}
	}
	took := make([][]float64, len(programs))
	for b.Loop() {
		for i, p := range programs {
			began := time.Now()
			if err := exec.Command(p.args[0], p.args[1:]...).Run(); err != nil {
				b.Fatalf("%v: %v", p.args, err)
			}
			took[i] = append(took[i], time.Since(began).Seconds()*1000)
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
	for i, p := range programs {
		b.ReportMetric(median(took[i]), p.name+"-ms")
	}
}
