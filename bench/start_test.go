//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
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
		name   string
		args   []string
		ticket bool // the words of args stand behind a ticket
	}
	now, small := build("program", ".."), build("small", "../cmd/"+walls.Program)
	programs := []program{
		{"program", []string{now, "--help"}, false},
		{"empty", []string{build("empty", empty)}, false},
		{"bash", []string{"bash", "-c", "true"}, false},
	}
	confined := []string{"confine", "--write", dir, "--", "bash", "-c", "true"}
	can := exec.Command(now, confined...).Run() == nil
	if can {
		programs = append(programs, program{"confined", append([]string{now}, confined...), false},
			program{"confined-small", []string{small, "bash", "-c", "true"}, true})
	}
	if before := os.Getenv("BEFORE"); before != "" {
		programs = append(programs, program{"program-before", []string{before, "--help"}, false})
		if can {
			programs = append(programs, program{"confined-before", append([]string{before}, confined...), false})
		}
	}
	took := make([][]float64, len(programs))
	for b.Loop() {
		for i, p := range programs {
			if p.ticket {
				p.args = append([]string{p.args[0], "confine", "--ticket", ticket(b, p.args[1:]), "--"}, p.args[1:]...)
			}
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

// ticket is a ticket for a command.
func ticket(b *testing.B, words []string) string {
	folder, err := confine.OpenFolder(filepath.Join(b.TempDir(), "tickets"))
	if err != nil {
		b.Fatal(err)
	}
	box := walls.System()
	box.Command = words
	path, err := folder.Issue(walls.Ticket{Box: box}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return path
}
