//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// row is a line of the table. A goal with a unit is for the value, otherwise for the ratio.
type row struct{ what, cell, figure, unit, goal string }

var rows = []row{
	{"requests/s, 1 KB reply, 16 connections", "text 1 KB", "requests/s", "", "≥ 0.75"},
	{"requests/s, 8 KB", "text 8 KB", "requests/s", "", "≥ 0.75"},
	{"requests/s, 64 KB", "text 64 KB", "requests/s", "", ""},
	{"CPU a request, 8 KB", "text 8 KB", "cpu", "µs", "≤ 1.35"},
	{"CPU a request, 64 KB", "text 64 KB", "cpu", "µs", "≤ 1.9"},
	{"CPU a tool call, 8 KB of arguments", "call 8 KB", "cpu", "µs", "≤ 1.8"},
	{"CPU a tool call, 64 KB", "call 64 KB", "cpu", "µs", ""},
	{"CPU a streamed tool call, 8 KB", "streamed call 8 KB", "cpu", "µs", "≤ 1.8"},
	{"CPU a streamed tool call, 64 KB", "streamed call 64 KB", "cpu", "µs", ""},
	{"CPU a streamed event", "events", "cpu an event", "µs", "≤ 1.3"},
	{"added latency (p50) at 1,000 requests/s", "open loop", "p50", "µs", "≤ 1.5"},
	{"memory that 1,000 open streams add", "1000 streams", "added", "MB", "≤ 1.25"},
	{"memory of the process with them open", "1000 streams", "whole", "MB", "≤ 1.25"},
	{"aborts that reach the model, of 1,000", "1000 streams", "aborts", "", "≥ 1"},
	{"10,000 open streams: memory a stream", "10000 streams", "each", "KB", "≤ 1.1"},
	{"10,000 open streams: memory of the process", "10000 streams", "whole", "MB", "≤ 1.1"},
	{"10,000 open streams: goroutines a stream", "10000 streams", "goroutines", "", ""},
	{"10,000 open streams: CPU to open one", "10000 streams", "cpu a stream", "µs", ""},
	{"10,000 open streams: CPU an event, 2,000 a second", "10000 streams", "cpu an event", "µs", ""},
	{"10,000 open streams: open at once", "10000 streams", "streams", "", ""},
	{"10,000 open streams: aborts that reach the model", "10000 streams", "aborts", "", "≥ 1"},
	{"limit of memory 150 MiB: streams let in, of 5,000", "memory limit", "let in", "", ""},
	{"that got 503", "memory limit", "refused", "", ""},
	{"of those let in, ended by us", "memory limit", "broken", "", ""},
	{"most resident memory meanwhile", "memory limit", "whole", "MB", ""},
	{"of 100 more once all have left, let in", "memory limit", "later", "", ""},
	{"resident memory at 100 connections", "100 connections", "resident", "MB", "≤ 30 MB"},
	{"resident memory before the first request", "100 connections", "before", "MB", ""},
	{"runs/s, 5 turns, 100 at once", "100 runs", "runs/s", "", ""},
	{"CPU a run of 5 turns", "100 runs", "cpu", "µs", ""},
	{"resident memory at 100 runs", "100 runs", "resident", "MB", "≤ 40 MB"},
	{"1,000 open runs: memory that they add", "1000 runs", "added", "MB", ""},
	{"1,000 open runs: done", "1000 runs", "done", "", "≥ 1"},
	{"start until the first answer", "100 connections", "start", "ms", "≤ 35 ms"},
}

// results are the runs of each cell with each target.
type results map[[2]string][]figures

func (r results) add(cell, target string, f figures) {
	r[[2]string{cell, target}] = append(r[[2]string{cell, target}], f)
}

// print writes the table in Markdown. A missed goal is bold, and a star marks a value that other processes
// disturbed in every run.
func (r results) print(w io.Writer) {
	fmt.Fprintf(w, "| | %s | %s | ratio | goal |\n|---|---:|---:|---:|---:|\n", revproxy, sidecar)
	noise := ""
	for _, row := range rows {
		theirs, quiet1 := r.of(row, revproxy)
		ours, quiet2 := r.of(row, sidecar)
		if base, quiet := r.of(row, direct); !math.IsNaN(base) { // without a proxy
			theirs, ours, quiet1 = theirs-base, ours-base, quiet1 && quiet
		}
		if math.IsNaN(ours) {
			continue
		}
		if math.IsNaN(theirs) { // nothing to compare
			fmt.Fprintf(w, "| %s | | %s | | %s |\n", row.what, row.shown(ours), row.goal)
			continue
		}
		what, value, ratio := row.what, row.shown(ours), fmt.Sprintf("%.2f", ours/theirs)
		if !quiet1 || !quiet2 {
			what, noise = what+` \*`,
				"\n\\* Other processes used the machine in every run: this says little.\n"
		}
		if missed, absolute := row.missed(theirs, ours); missed && absolute {
			value = "**" + value + "**"
		} else if missed {
			ratio = "**" + ratio + "**"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", what, row.shown(theirs), value, ratio, row.goal)
	}
	fmt.Fprint(w, noise)
}

// of returns the median of the quiet runs, or of all if there is none; NaN if it was not measured.
func (r results) of(row row, target string) (value float64, quiet bool) {
	runs := r[[2]string{row.cell, target}]
	quiet = slices.ContainsFunc(runs, figures.quiet)
	var values []float64
	for _, f := range runs {
		if f.quiet() || !quiet {
			values = append(values, f[row.figure])
		}
	}
	return median(values), quiet
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// shown formats a value with its unit.
func (r row) shown(v float64) string {
	digits := 0
	if v < 20 && (r.unit == "µs" || r.unit == "MB" || r.figure == "goroutines") {
		digits = 1
	}
	text := fmt.Sprintf("%.*f", digits, v)
	if v >= 1000 {
		text = text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return strings.TrimSpace(text + " " + r.unit)
}

// missed reports whether the goal is missed, and whether it is for the value.
func (r row) missed(theirs, ours float64) (missed, absolute bool) {
	var sign, unit string
	var goal float64
	n, _ := fmt.Sscan(r.goal, &sign, &goal, &unit)
	value := ours
	if n == 2 {
		value = math.Round(100*ours/theirs) / 100
	}
	return sign == "≥" && value < goal || sign == "≤" && value > goal, n == 3
}
