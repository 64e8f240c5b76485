package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// strategy is a strategy that no built-in rule has.
const strategy = `  - id: house_style
    about: Calls as our own fine-tuned model writes them.
    kind: frame
    priority: 50
    confidence: 0.9
    frame: {open: ['<<'], close: ['>>'], call: ['{code}']}
    hit:
      - text: '<<exec(command="ls -l")>>'
        gives: [{tool: exec, args: {command: ls -l}}]
`

// mistake is a condition with an unknown name.
const mistake = "    when: len(txt) < 4000\n"

// edits adds a strategy to a rule file, and then a mistake.
func (p *demoRun) edits(ctx context.Context, s show) error {
	const name = "strategies.yaml"
	file := filepath.Join(p.dir, name)
	shipped, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	good := strings.Replace(string(shipped), "\nstrategies:\n", "\nstrategies:\n"+strategy+"\n", 1)
	broken := strings.Replace(good, strategy, strategy+mistake, 1)
	p.diff(name, strategy)
	if err := p.improve(ctx, s, file, good); err != nil {
		return err
	}
	p.diff(name, mistake)
	return p.spoil(ctx, s, file, broken)
}

// improve saves an edit, and shows the same reply before and after.
func (p *demoRun) improve(ctx context.Context, s show, file, text string) error {
	r := played{show: s}
	var err error
	if r.before, err = p.ask(ctx, p.served, s); err != nil {
		return err
	}
	seen, took, err := p.save(ctx, file, text)
	if err != nil {
		return err
	}
	if seen.Event != eventTaken {
		return fmt.Errorf("the edit was refused:\n%s", seen.Problems)
	}
	if r.after, err = p.ask(ctx, p.served, s); err != nil {
		return err
	}
	p.judge(&r)
	p.show(&r, "before", "after")
	p.versions = []string{r.before.rules, r.after.rules}
	p.note(fmt.Sprintf("X-Rules-Version %s, then %s: %d ms after the file was saved", r.before.rules,
		r.after.rules, took.Milliseconds()))
	return nil
}

// save saves an edit, and waits until the sidecar has seen it.
func (p *demoRun) save(ctx context.Context,
	file, text string) (seen event, took time.Duration, err error) {
	saved := time.Now()
	if err := atomicfile.Replace(file, []byte(text)); err != nil {
		return event{}, 0, err
	}
	seen, err = p.next(ctx)
	return seen, time.Since(saved), err
}

// spoil saves an invalid edit, and shows that nothing changes.
func (p *demoRun) spoil(ctx context.Context, s show, file, text string) error {
	seen, took, err := p.save(ctx, file, text)
	if err != nil {
		return err
	}
	p.write(2, line{strings.ReplaceAll(seen.Problems, p.dir+string(filepath.Separator), ""), terminal.Red})
	after, err := p.ask(ctx, p.served, s)
	if err != nil {
		return err
	}
	in := p.versions[len(p.versions)-1]
	err = after.differs(s.want)
	switch {
	case err == nil && (seen.Event != eventRefused || after.rules != in):
		err = fmt.Errorf("other rules are in force: %s", after.rules)
	case err == nil && !strings.Contains(seen.Problems, "^^^"):
		err = errors.New("the place of the mistake is not shown")
	}
	if err != nil {
		p.wrong++
		p.verdict(false, err.Error())
		return nil
	}
	p.verdict(true, fmt.Sprintf("refused after %d ms; %s stays in force, and the call is still read",
		took.Milliseconds(), in))
	return nil
}
