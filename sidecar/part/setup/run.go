package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

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
