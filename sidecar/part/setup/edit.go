package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
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

// Texts of the run in the demo.
const (
	runAsks    = "Write down in todo.md what our notes leave open."
	runAnswers = "todo.md lists the two things that are open."
	runWrites  = "- order paper\n- call the printer\n"
)

// runNotes are the files in its folder.
var runNotes = map[string]string{
	"notes/monday.md":  "The flyers are done.\nOPEN order paper\n",
	"notes/tuesday.md": "OPEN call the printer\nThe proof is fine.\n",
}

// runScenario is the script of the model: its calls are damaged, and one is not allowed.
func runScenario() script.Scenario {
	harmony := func(tool, args string) script.Reply {
		return script.Text("<|channel|>commentary to=functions." + tool +
			" <|constrain|>json<|message|>" + args + "<|call|>")
	}
	return script.Scenario{Name: "run", User: runAsks, Steps: []script.Reply{
		script.Native("grep", `{"pattern":"OPEN","path":"notes"}`).Thinking("I must look for what is open."),
		harmony("read", `{"file_path":"notes/monday.md"}`),
		script.Native("read", `{"path":"~/.ssh/id_rsa"}`),
		script.Native("functions.write<|channel|>commentary",
			`{"path":"todo.md","content":"- order paper\n- call the printer\n"}`),
		script.Text(runAnswers),
	}}
}

// run lets the model work alone in a folder, and checks the result.
func (p *demoRun) run(ctx context.Context) error {
	for name, text := range runNotes {
		file := filepath.Join(p.work, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	a, err := p.caller.asks(ctx, p.served, "executor", runAsks, nil)
	if err != nil {
		return err
	}
	p.space()
	p.write(2, line{"user: " + runAsks, terminal.Plain})
	for text := range strings.Lines(a.reasoning) {
		if strings.TrimSpace(text) != "" {
			p.write(4, line{text, terminal.Faint})
		}
	}
	p.write(2, line{"answer: " + a.text, terminal.Plain})
	wrote, err := os.ReadFile(filepath.Join(p.work, "todo.md"))
	switch {
	case a.status != 200 || a.text != runAnswers:
		err = fmt.Errorf("the answer is %d %q %s", a.status, a.text, a.fault)
	case err != nil:
	case string(wrote) != runWrites:
		err = fmt.Errorf("todo.md holds %q", wrote)
	case !strings.Contains(a.reasoning, "It was not run"):
		err = fmt.Errorf("a key was read")
	}
	if err != nil {
		p.wrong++
		p.verdict(false, err.Error())
		return nil
	}
	p.verdict(true, "four calls, of which one was refused; todo.md holds what was meant")
	return nil
}

// differs returns how an answer differs from the wanted one, or nil.
func (a answer) differs(want answer) error {
	if leak := a.leak(); leak != "" {
		return fmt.Errorf("%s has leaked", leak)
	}
	if is, should := a.outcome(), want.outcome(); is != should {
		return fmt.Errorf("this should be %s, and is %s", should, is)
	}
	return nil
}

var callID = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`) // OpenClaw rewrites every other id

// outcome returns what a gateway uses of an answer. Only the meaning of arguments counts, and of ids only
// whether OpenClaw keeps them.
func (a answer) outcome() string {
	if a.fault != "" {
		return a.failure()
	}
	out, finish := fmt.Sprintf("the text %q", a.text), "stop"
	for _, c := range a.calls {
		finish = "tool_calls"
		out += fmt.Sprintf(" and the call %s %s", c.Name, meaning(c.Args))
		if !callID.MatchString(c.ID) {
			out += fmt.Sprintf(" with the id %q, which OpenClaw rewrites", c.ID)
		}
	}
	if a.finish != finish {
		out += fmt.Sprintf(" with the finish_reason %q", a.finish)
	}
	return out
}

// failure formats an error for people.
func (a answer) failure() string {
	if a.status == http.StatusOK {
		return "error in the stream: " + a.fault
	}
	return fmt.Sprintf("HTTP %d: %s", a.status, a.fault)
}

// meaning returns JSON in a canonical form.
func meaning(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args + " (which is no JSON)"
	}
	sorted, _ := json.Marshal(v) // decoded JSON can be encoded
	return string(sorted)
}

// leak returns markup that no caller should see, or "".
func (a answer) leak() string {
	all := a.text + a.reasoning
	for _, c := range a.calls {
		all += c.Name + c.Args
	}
	for _, markup := range []string{"<|", "assistantcommentary", "to=functions."} {
		if strings.Contains(all, markup) {
			return markup
		}
	}
	return ""
}

// openClawResult describes what OpenClaw makes of an answer, as observed with OpenClaw 2026.9.
func (a answer) openClawResult() string {
	switch {
	case a.fault != "" && a.status == http.StatusBadRequest:
		return "OpenClaw shows the error, and the turn is over"
	case a.fault != "":
		return "OpenClaw sends the same again, for up to 90 s"
	case len(a.calls) > 0:
		return a.calls[0].fate()
	case a.text != "":
		return "the user is shown this, and nothing runs"
	case a.reasoning != "":
		return "no answer: OpenClaw asks for one, and the call is lost"
	}
	return "no answer: OpenClaw asks once more, then the turn fails"
}

func (c call) fate() string {
	var args map[string]any
	takes, offered := toolbox()[c.Name]
	switch {
	case !offered:
		return "OpenClaw finds no such tool"
	case json.Unmarshal([]byte(c.Args), &args) != nil:
		return "not a JSON object: OpenClaw drops the reply, and asks again without a word why"
	case !slices.Equal(slices.Sorted(maps.Keys(args)), takes):
		return "OpenClaw refuses the arguments"
	}
	return "runs"
}
