package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// played is a show with its results.
type played struct {
	show
	before, after answer // without the sidecar, and with it
	bad           error  // what is wrong with the second
}

// play asks for each reply without and with the sidecar, and shows both. Of brief shows it only names the
// ones that are as expected.
func (p *demoRun) play(ctx context.Context, shows []show) error {
	var good []string
	for _, s := range shows {
		r, err := p.both(ctx, s)
		switch {
		case err != nil:
			return err
		case s.brief && r.bad == nil:
			good = append(good, s.id)
		default:
			p.show(&r, "without", "with")
		}
	}
	if len(good) > 0 {
		p.space()
		p.verdict(true, fmt.Sprintf("%d more kinds arrive as they should: %s", len(good),
			strings.Join(good, ", ")))
	}
	return nil
}

// race compares the times to the first text. The bound is generous: it finds a sidecar that waits for the
// whole reply.
func (p *demoRun) race(ctx context.Context, s show) error {
	began := time.Now()
	r, err := p.both(ctx, s)
	if err != nil {
		return err
	}
	whole := time.Since(began) / 2
	if r.bad == nil && r.after.first > whole/2 {
		r.bad = errors.New("the text did not flow")
		p.wrong++
	}
	text := fmt.Sprintf("first text after %d ms, without the sidecar %d ms, of a reply that takes %d ms",
		r.after.first.Milliseconds(), r.before.first.Milliseconds(), whole.Milliseconds())
	if r.bad != nil {
		text += ": " + r.bad.Error()
	}
	p.verdict(r.bad == nil, text)
	return nil
}

// both asks without the sidecar, then with it.
func (p *demoRun) both(ctx context.Context, s show) (r played, err error) {
	r.show = s
	if r.before, err = p.ask(ctx, p.direct, s); err != nil {
		return r, err
	}
	if r.after, err = p.ask(ctx, p.served, s); err != nil {
		return r, err
	}
	p.judge(&r)
	return r, nil
}

// ask asks for the reply of a show, and counts the requests to the model.
func (p *demoRun) ask(ctx context.Context, base string, s show) (answer, error) {
	asked := len(p.model.Requests(s.id))
	a, err := p.caller.ask(ctx, base, s.id)
	if err != nil {
		return a, fmt.Errorf("%s from %s: %w", s.id, base, err)
	}
	a.asked = len(p.model.Requests(s.id)) - asked
	return a, nil
}

// judge counts a reply, and sets what is wrong with it.
func (p *demoRun) judge(r *played) {
	p.kinds++
	if r.after.leak() != "" {
		p.leaks++
	}
	r.bad = r.after.differs(r.want)
	damaged := r.before.differs(r.want) != nil
	switch {
	case r.bad != nil:
	case !damaged && !r.harmless:
		r.bad = errors.New("the reply is as good without the sidecar")
	case r.after.asked != len(r.replies):
		r.bad = fmt.Errorf("the model was asked %d times, not %d", r.after.asked, len(r.replies))
	}
	switch {
	case r.bad != nil:
		p.wrong++
	case damaged && len(r.want.calls) > 0:
		p.repaired++
	}
}

// show prints two answers to one message, and the verdict on the second.
func (p *demoRun) show(r *played, first, second string) {
	leftLines, verdict := r.before.lines(), r.output
	if !r.harmless {
		leftLines = append(leftLines, line{"-> " + r.before.openClawResult(), terminal.Red})
	}
	if r.after.asked > 1 {
		verdict += " (the model was asked again)"
	}
	if r.bad != nil {
		verdict = r.bad.Error()
	}
	p.sides(r.id, r.about, side{first, leftLines},
		side{second, append(r.after.lines(), judged(r.bad == nil, verdict))})
}

// lines formats an answer for people.
func (a answer) lines() []line {
	var out []line
	add := func(text string, in terminal.Ink) {
		for l := range strings.Lines(text) {
			out = append(out, line{strings.TrimRight(l, "\n"), in})
		}
	}
	if a.reasoning != "" {
		add("(thought) "+a.reasoning, terminal.Faint)
	}
	add(a.text, terminal.Plain)
	for _, c := range a.calls {
		add(c.Name+" "+c.Args, terminal.Bold)
	}
	if a.fault != "" {
		add(a.failure(), terminal.Plain)
	}
	if len(out) == 0 {
		add("(nothing)", terminal.Faint)
	}
	return out
}
