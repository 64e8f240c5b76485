package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// agentWays are the ways from an agent to the model server.
var agentWays = []column{{id: "alone", alone: true}, {id: "with"}}

// nobody is the user and group of that name.
const nobody = "65534"

// agentTrial is a turn of an agent.
type agentTrial struct {
	agent
	trial
	home, work string
	asked      int  // requests with tools
	cut        bool // it has run a command of which only a part had come
	endless    bool // it was ended, after a time in which others are through many times over
}

func (c *agentTrial) name() string { return c.agent.id + "/" + c.trial.name() }

// TestAgents has real agents run commands for the scripted model, each directly and with the sidecar in
// between. They run as nobody, in a network and below a /srv of their own.
func TestAgents(t *testing.T) {
	needEnabled(t)
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: real agents run commands, so the test has them run as nobody, for which it must be root")
	}
	node(t)
	var chosen []agent
	for _, a := range agents() {
		if a.quick || *update {
			install(t, a.folder())
			chosen = append(chosen, a)
		}
	}
	if moves(t, "--mount") {
		return
	}
	if os.Getenv(ownNetwork) == "" {
		t.Skip("SKIPPED: real agents, which shall reach nothing but this machine")
	}
	settle(t)
	var trials []*agentTrial
	for _, a := range chosen {
		t.Run(a.id, func(t *testing.T) {
			mount(t, install(t, a.folder()), "/srv/programs/"+a.id)
			for _, s := range agentTurns(a) {
				for _, way := range agentWays {
					if way.alone && !*update {
						continue
					}
					c := &agentTrial{agent: a, trial: trial{scenario: s, column: way}}
					t.Run(s.id+"/"+way.id, func(t *testing.T) {
						c.play(t)
						trials = append(trials, c)
					})
				}
			}
		})
	}
	compareAgents(t, trials)
}

// settle makes an empty /srv for agents, with the Node that runs them.
func settle(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("sh", "-c",
		"ip link set lo up && mount -t tmpfs -o mode=755 tmpfs /srv").CombinedOutput(); err != nil {
		t.Fatalf("make a network and a /srv: %v %s", err, out)
	}
	mount(t, filepath.Dir(filepath.Dir(node(t))), "/srv/programs/node")
}

// mount shows a folder at another place, where the user nobody may read it.
func mount(t *testing.T, folder, at string) {
	t.Helper()
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "--bind", "-o", "ro", folder, at).CombinedOutput(); err != nil {
		t.Fatalf("mount %s: %v %s", folder, err, out)
	}
}

// play runs the trial, and looks at what came of it.
func (c *agentTrial) play(t *testing.T) {
	c.home = "/srv/" + strings.ReplaceAll(c.name(), "/", "-")
	c.work = c.home + "/shop"
	model := script.New(script.Scenario{Choose: c.choose})
	base := startModel(t, model)
	if !c.alone {
		base = startSidecar(t, base, "HOME="+c.home)
	}
	fill := strings.NewReplacer("{base}", base+"/v1", "{server}", base, "{home}", c.home, "{work}", c.work,
		"{message}", "Please do what is next.")
	c.moveIn(t, fill)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := c.command(ctx, fill)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	c.out.err = cmd.Run()
	c.out.took = time.Since(begin)
	c.endless = ctx.Err() != nil
	c.look(model, stdout.Bytes(), stderr.String())
	t.Logf("%s: %s (%d requests, %v)", c.name(), c.words(), c.out.asked,
		c.out.took.Round(100*time.Millisecond))
}

// moveIn makes the folders of the agent, which are nobody's.
func (c *agentTrial) moveIn(t *testing.T, fill *strings.Replacer) {
	t.Helper()
	for _, folder := range []string{c.work, c.home + "/tmp"} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range c.files {
		file := filepath.Join(c.home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, fill.Replace(text))
	}
	settings := exec.Command(binary, "connect", c.agent.id, "--url", fill.Replace("{base}"), "--models",
		"gpt-oss", "--context-window", "131072", "--max-tokens", "8192", "--write")
	settings.Env = []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}
	if out, err := settings.CombinedOutput(); err != nil {
		t.Fatalf("connect %s: %v %s", c.agent.id, err, out)
	}
	if out, err := exec.Command("chown", "-R", nobody+":"+nobody, c.home).CombinedOutput(); err != nil {
		t.Fatalf("hand over %s: %v %s", c.home, err, out)
	}
}

// command is one of the agent: as nobody, with processes and an environment of its own.
func (c *agentTrial) command(ctx context.Context, fill *strings.Replacer) *exec.Cmd {
	line := []string{"--pid", "--fork", "--kill-child", "--mount-proc", "setpriv", "--pdeathsig=keep",
		"--reuid=" + nobody, "--regid=" + nobody, "--clear-groups", "--no-new-privs", "--"}
	program := "/srv/programs/" + c.agent.id + "/node_modules/" + c.program
	if found, err := filepath.Glob(program); err == nil && len(found) > 0 {
		program = found[0]
	}
	if strings.HasSuffix(program, ".js") {
		line = append(line, "/srv/programs/node/bin/node")
	}
	line = append(line, program)
	for _, arg := range c.agent.args {
		line = append(line, fill.Replace(arg))
	}
	cmd := exec.CommandContext(ctx, "unshare", line...)
	cmd.Dir = c.work
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = []string{"HOME=" + c.home, "PWD=" + c.work, "TMPDIR=" + c.home + "/tmp",
		"PATH=/srv/programs/node/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1",
		"SHELL=/bin/bash"}
	for _, variable := range c.env {
		cmd.Env = append(cmd.Env, fill.Replace(variable))
	}
	return cmd
}

// choose is the scripted model.
func (c *agentTrial) choose(q script.Request) *script.Reply {
	if len(q.Tools) == 0 { // a title or a summary
		return &script.Reply{Content: "A turn with a file."}
	}
	call := c.shell
	if c.tool == "write" {
		call = c.agent.write
	}
	args := call.fill(c.work, "echo ran >> "+theFile+"; echo printed")
	says := c.says(args)
	reply := says[min(c.asked, len(says)-1)]
	c.asked++
	switch {
	case c.inTurn:
	case c.lines() > 0:
		reply = script.Text(theAnswer)
	case c.runs > 0 && answeredBefore(q.Messages):
		reply = script.Native(call.tool, args)
	}
	return &reply
}

// answeredBefore reports whether the model has spoken since the user has.
func answeredBefore(messages []script.Message) bool {
	at := 0
	for i, m := range messages {
		if m.Role == "user" && strings.Contains(m.Text, "Please do what is next.") {
			at = i
		}
	}
	return slices.ContainsFunc(messages[at:],
		func(m script.Message) bool { return m.Role == "assistant" || m.Role == "tool" })
}

// lines counts how often the call has run.
func (c *agentTrial) lines() int {
	text, _ := os.ReadFile(c.work + "/" + theFile) // no file: it did not run
	return strings.Count(string(text), "ran\n")
}

// look reads what came of the trial.
func (c *agentTrial) look(model *script.Server, stdout []byte, stderr string) {
	o := &c.out
	o.ran = c.lines()
	c.cut = exists(c.work, cutFile)
	for _, q := range model.Requests("") {
		if len(q.Tools) > 0 {
			o.asked++
			o.thought = strings.Contains(string(q.Body), theThought)
		}
	}
	o.text = strings.TrimSpace(c.texts(c.reads, stdout))
	if c.reads == "" {
		o.text = strings.TrimSpace(string(stdout))
	}
	if strings.HasSuffix(o.text, theAnswer) && !markup.MatchString(o.text) {
		o.text = theAnswer // what came before it does no harm
	}
	o.raw = string(stdout) + stderr
	if o.status = http.StatusOK; c.fails != "" && c.texts(c.fails, stdout) != "" || o.err != nil {
		o.status = http.StatusInternalServerError
	}
}

// refusal is how the sidecar says which rule refused a call.
var refusal = regexp.MustCompile(`Rule [a-z-]+ \(`)

// words say what came of the trial: those of a gateway, and some that only agents need.
func (c *agentTrial) words() string {
	words := c.trial.words()
	switch {
	case c.endless:
		return "never ends"
	case c.cut:
		return "ran a cut command"
	case c.out.status == http.StatusOK && c.out.text == theHalf:
		return "half an answer"
	case words == "call lost" && refusal.MatchString(c.out.text):
		return "refused"
	case words == "call lost" && c.out.text == "":
		return "silent end"
	}
	return words
}

// texts are those at a path, in a list of what the agent prints.
func (c *agentTrial) texts(path string, stdout []byte) string {
	var objects []json.RawMessage
	for line := range bytes.Lines(stdout) {
		if line = bytes.TrimSpace(line); json.Valid(line) && len(line) > 0 {
			objects = append(objects, line)
		}
	}
	list := []byte("[]")
	if len(objects) == 1 && objects[0][0] == '[' {
		list = objects[0]
	} else if len(objects) > 0 {
		list, _ = json.Marshal(objects) // they are valid
	}
	var out []string
	found := gjson.GetBytes(list, path)
	for _, text := range found.Array() {
		if text.String() != "" {
			out = append(out, text.String())
		}
	}
	return strings.Join(out, "\n")
}
