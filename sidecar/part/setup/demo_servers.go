package setup

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// demoConfig configures a demo.
type demoConfig struct {
	Dir     string // folder of rules that the demo may edit
	Work    string // empty folder for a run
	Out     io.Writer
	Colours terminal.Colours
	Serve   Serve
	Stay    stay // called before everything ends; may be nil
}

// stay waits until the demo may end. Meanwhile the sidecar runs, with its console at an address; empty: no
// console.
type stay func(ctx context.Context, console string)

// Serve runs the sidecar until ctx ends, as the command serve does: with the rules in Dir, the workspace
// Work, this model server and a free local port. Each line of its log is one write of JSON.
type Serve func(ctx context.Context, upstream string, log io.Writer) error

// runDemo runs the demo. ok reports whether all results were as expected; others are on Out. An error means
// that the demo could not run.
func runDemo(ctx context.Context, cfg demoConfig) (ok bool, err error) {
	bill := newProgramme()
	st, err := open(ctx, cfg, script.New(bill.scenarios()...))
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	p := &demoRun{stage: st, page: page{cfg.Out, cfg.Colours}, dir: cfg.Dir, work: cfg.Work,
		began: time.Now()}
	if err = p.give(ctx, bill); err == nil {
		ok = p.summary()
	}
	if err == nil && cfg.Stay != nil {
		console, _ := st.log.console.Load().(string)
		cfg.Stay(ctx, console)
	}
	if closed := st.close(); err == nil {
		err = closed
	}
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	return ok, nil
}

// demoRun is one run of the demo with its results.
type demoRun struct {
	*stage
	page
	dir   string
	work  string
	began time.Time

	kinds, repaired, leaks, wrong int
	versions                      []string // of the rules, in order
}

func (p *demoRun) give(ctx context.Context, bill demoShows) error {
	p.title("gpt-oss-executor: what gpt-oss means, without the sidecar and with it")
	p.note(fmt.Sprintf("a scripted model server at %s, the sidecar at %s; every reply is streamed", p.direct,
		p.served))

	p.title("Calls that arrive damaged")
	if err := p.play(ctx, bill.damaged); err != nil {
		return err
	}
	p.title("What must not become a call or must not leave, and an error in other words")
	if err := p.play(ctx, bill.guarded); err != nil {
		return err
	}
	p.title("Without a gateway: the model works alone in a folder, until it is done")
	if err := p.run(ctx); err != nil {
		return err
	}
	p.title("How soon text arrives")
	if err := p.race(ctx, bill.slow); err != nil {
		return err
	}
	p.title("A rule file is edited while the server runs")
	return p.edits(ctx, bill.house)
}

// summary prints the last line, and reports whether all was as expected.
func (p *demoRun) summary() bool {
	ok := p.wrong == 0 && p.leaks == 0
	p.title("Summary")
	p.verdict(ok, fmt.Sprintf("%d kinds of replies, %d calls repaired, %d leaks, %d wrong; rules %s; %.1f s",
		p.kinds, p.repaired, p.leaks, p.wrong, strings.Join(p.versions, " -> "),
		time.Since(p.began).Seconds()))
	return ok
}
