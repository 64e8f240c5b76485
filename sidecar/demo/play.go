package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// play asks for each reply without the sidecar and with it, and shows both.
func (p *performance) play(ctx context.Context, shows []show) error {
	for _, s := range shows {
		before, after, err := p.both(ctx, s)
		if err != nil {
			return err
		}
		p.show(s, "without", before, "with", after, p.judge(s, before, after))
	}
	return nil
}

// ask asks for the reply of a show, and counts what that costs the model.
func (p *performance) ask(ctx context.Context, base string, s show) (answer, error) {
	asked := len(p.model.Requests(s.id))
	a, err := p.caller.ask(ctx, base, s.id)
	if err != nil {
		return a, fmt.Errorf("%s from %s: %w", s.id, base, err)
	}
	a.asked = len(p.model.Requests(s.id)) - asked
	return a, nil
}

// both asks without the sidecar, then with it.
func (p *performance) both(ctx context.Context, s show) (before, after answer, err error) {
	if before, err = p.ask(ctx, p.direct, s); err == nil {
		after, err = p.ask(ctx, p.served, s)
	}
	return before, after, err
}

// judge counts a reply, and says what is wrong with it.
func (p *performance) judge(s show, before, after answer) error {
	p.kinds++
	if after.leak() != "" {
		p.leaks++
	}
	err := s.want.check(after)
	damaged := s.want.check(before) != nil
	if err == nil && !damaged && !s.harmless {
		err = errors.New("the reply is as good without the sidecar")
	}
	if err == nil && after.asked != len(s.replies) {
		err = fmt.Errorf("the model was asked %d times, not %d", after.asked, len(s.replies))
	}
	switch {
	case err != nil:
		p.wrong++
	case damaged && s.want.call != nil:
		p.repaired++
	}
	return err
}

// show shows two answers to one message, and what is said of the second.
func (p *performance) show(s show, first string, before answer, second string, after answer, bad error) {
	left, said := before.lines(), s.said
	if !s.harmless {
		left = append(left, line{"-> " + before.fate(), terminal.Red})
	}
	if after.asked > 1 {
		said += " (the model was asked again)"
	}
	if bad != nil {
		said = bad.Error()
	}
	p.sides(s.id, s.about, side{first, left}, side{second, append(after.lines(), judged(bad == nil, said))})
}

// playQuietly does the same, but shows only what went wrong.
func (p *performance) playQuietly(ctx context.Context, shows []show) error {
	var names []string
	for _, s := range shows {
		before, after, err := p.both(ctx, s)
		if err != nil {
			return err
		}
		if bad := p.judge(s, before, after); bad != nil {
			p.show(s, "without", before, "with", after, bad)
			continue
		}
		names = append(names, s.id)
	}
	p.space()
	p.verdict(true, fmt.Sprintf("%d more kinds arrive as they should: %s", len(names), strings.Join(names, ", ")))
	return nil
}

// race compares when the first text is there. The bound is generous: it is about
// a sidecar that waits for the whole reply.
func (p *performance) race(ctx context.Context, s show) error {
	began := time.Now()
	before, after, err := p.both(ctx, s)
	if err != nil {
		return err
	}
	whole := time.Since(began) / 2
	bad := p.judge(s, before, after)
	if bad == nil && after.first > whole/2 {
		bad = errors.New("the text did not flow")
		p.wrong++
	}
	text := fmt.Sprintf("first text after %d ms, without the sidecar %d ms, of a reply that takes %d ms",
		after.first.Milliseconds(), before.first.Milliseconds(), whole.Milliseconds())
	if bad != nil {
		text += ": " + bad.Error()
	}
	p.verdict(bad == nil, text)
	return nil
}

// lines are an answer as a person reads it.
func (a answer) lines() []line {
	var out []line
	if a.reasoning != "" {
		out = append(out, line{"(thought) " + a.reasoning, terminal.Faint})
	}
	for text := range strings.Lines(a.text) {
		out = append(out, line{strings.TrimRight(text, "\n"), terminal.Plain})
	}
	for _, c := range a.calls {
		for i, text := range strings.Split(c.Args, "\n") {
			if i == 0 {
				text = c.Name + " " + text
			}
			out = append(out, line{text, terminal.Bold})
		}
	}
	if f := a.fault; f != nil {
		head := "error in the stream: "
		if f.Status != 0 {
			head = fmt.Sprintf("HTTP %d: ", f.Status)
		}
		if f.Code != "" {
			head += f.Code + ": "
		}
		out = append(out, line{head + f.Message, terminal.Plain})
	}
	if len(out) == 0 {
		out = append(out, line{"(nothing)", terminal.Faint})
	}
	return out
}
