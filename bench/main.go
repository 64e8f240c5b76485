//go:build linux

// Command bench measures what the sidecar costs a reply, compared with a proxy that does nothing
// (httputil.ReverseProxy), and prints the table of docs/performance.md. It starts everything on loopback,
// ends it, and connects to nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// longest is the timeout of the whole program.
const longest = 25 * time.Minute

func main() {
	log.SetFlags(log.Ltime)
	binary := flag.String("binary", "bin/gpt-oss-executor", "the sidecar to measure")
	quick := flag.Bool("quick", false, "one round of one second a cell")
	rounds := flag.Int("rounds", 6, "how often each cell is measured")
	span := flag.Duration("span", 3*time.Second, "how long each cell is measured")
	only := flag.String("only", "", "measure only cells whose name contains this")
	soaks := flag.Duration("soak", 0,
		"in place of all cells, let callers work for so long, and fail if the sidecar grows; an hour is a day of load")
	to := flag.String("proxy-to", "",
		"be the proxy that does nothing, in front of this URL; the measurement starts itself so")
	listen := flag.String("listen", "", "where that proxy listens")
	flag.Parse()
	if *to != "" {
		log.Fatal(serveProxy(*listen, *to))
	}
	if *quick {
		*rounds, *span = 1, time.Second
	}
	longest := longest + *soaks
	// child processes end with it
	time.AfterFunc(longest, func() { log.Fatal("this takes longer than ", longest) })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *binary, *only, *rounds, *span, *soaks); err != nil {
		log.Fatal(err)
	}
}

// measure runs all cells or a soak, rounds times, and prints the table. Each round begins with another
// target.
func measure(ctx context.Context, binary, only string, rounds int, span, soaks time.Duration) error {
	runtime.LockOSThread() // children end with this thread, and inherit its CPU
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	if soaks == 0 {
		pinAll()
	}
	m, err := startModel()
	if err != nil {
		return err
	}
	files, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	b := &bench{binary: binary, span: span, patience: 40 * span, model: m, running: map[string]*process{},
		files: files, anywhere: soaks > 0}
	defer b.close()
	if soaks > 0 {
		return b.soak(ctx, soaks)
	}
	all := results{}
	for round := range rounds {
		for _, c := range b.cells() {
			if !strings.Contains(c.name, only) {
				continue
			}
			for i := range c.targets {
				target := c.targets[(i+round)%len(c.targets)]
				f, err := b.run(ctx, c, target)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, target, err)
				}
				log.Printf("round %d  %-20s %-16s %s", round+1, c.name, target, f)
				all.add(c.name, target, f)
			}
		}
	}
	fmt.Printf("%s, %s, %s, rounds: %d of %s\n\n", time.Now().Format("2 January 2006"),
		field(proc("cpuinfo"), "model name"), runtime.Version(), rounds, span)
	all.print(os.Stdout)
	return nil
}
