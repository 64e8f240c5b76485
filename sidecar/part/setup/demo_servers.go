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

// demoConfig is what a demo works with.
type demoConfig struct {
	Dir     string // folder of rule files that the demo may edit
	Work    string // empty folder, in which a run of the demo works
	Out     io.Writer
	Colours terminal.Colours
	Serve   Serve
	Stay    stay // what is done before all of it ends; nil: nothing
}

// stay returns when the demo is to end. Until then the sidecar runs, with its console at an address; empty:
// it has none.
type stay func(ctx context.Context, console string)

// Serve runs the sidecar as the command serve does, with the rules in Dir, the workspace Work and
// this model server, at a free port of this machine, until ctx ends. Each line of its log is one write
// of JSON.
type Serve func(ctx context.Context, upstream string, log io.Writer) error

// runDemo gives the demo. It is ok if everything came out as it should; what did not
// is on Out. The error is about a demo that could not be given.
func runDemo(ctx context.Context, cfg demoConfig) (ok bool, err error) {
	bill := newProgramme()
	st, err := open(ctx, cfg, script.New(bill.scenarios()...))
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	p := &performance{stage: st, page: page{cfg.Out, cfg.Colours}, dir: cfg.Dir, work: cfg.Work,
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

// performance is one run of the demo, and what came out of it.
type performance struct {
	*stage
	page
	dir   string
	work  string
	began time.Time

	kinds, repaired, leaks, wrong int
	versions                      []string // of the rules, in the order in which they were in force
}

func (p *performance) give(ctx context.Context, bill programme) error {
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

// summary is the last line. It says whether all was as it should be.
func (p *performance) summary() bool {
	ok := p.wrong == 0 && p.leaks == 0
	p.title("Summary")
	p.verdict(ok, fmt.Sprintf("%d kinds of replies, %d calls repaired, %d leaks, %d wrong; rules %s; %.1f s",
		p.kinds, p.repaired, p.leaks, p.wrong, strings.Join(p.versions, " -> "),
		time.Since(p.began).Seconds()))
	return ok
}
