package setup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// show is one reply, or several if the model must be asked again.
type show struct {
	id, about string
	replies   []script.Reply // for the sidecar, in order; others get the first
	want      answer         // through the sidecar
	output    string         // printed on success
	brief     bool           // shown only on failure
	harmless  bool           // the reply also works without the sidecar
}

// saying returns an answer with a text.
func saying(text string) answer { return answer{text: text, finish: "stop"} }

// calling returns an answer with a call.
func calling(name, args string) answer {
	return answer{calls: []call{{"id", name, args}}, finish: "tool_calls"}
}

// scenario is the script of the model server for a show: first for a caller without the sidecar, who gets
// one reply, then for the sidecar.
func (s show) scenario() script.Scenario {
	return script.Scenario{Name: s.id, Steps: append([]script.Reply{s.replies[0]}, s.replies...), Loop: true}
}

// demoShows lists the shows of a demo in order.
type demoShows struct {
	damaged []show // kinds of damage
	guarded []show
	slow    show
	house   show // read as a call only by an added rule
}

func newProgramme() demoShows {
	return demoShows{damages(), guards(), slowReply(), houseStyle()}
}

// scenarios returns the scripts of all shows.
func (b demoShows) scenarios() []script.Scenario {
	var out []script.Scenario
	for _, s := range slices.Concat(b.damaged, b.guarded, []show{b.slow, b.house}) {
		out = append(out, s.scenario())
	}
	return append(out, runScenario())
}

const runs = "runs, exactly as the model meant it"

// damages returns the kinds of damage, the most telling as full shows. Some of the others do no harm to
// some callers.
func damages() []show {
	telling := []string{"leaked-harmony", "stripped-harmony", "call-in-reasoning", "leaked-final",
		"name-channel", "alias",
		"single-quotes", "raw-newline", "unclosed", "react", "guided-json", "marker", "ollama-500",
		"empty-reply"}
	var out []show
	for _, k := range script.Kinds() {
		s := kind(k)
		s.brief = !slices.Contains(telling, k.ID)
		s.harmless = s.brief
		out = append(out, s)
	}
	return out
}

func kind(k script.Kind) show {
	if k.Final != nil {
		const text = "There are two reports, and both are empty."
		return show{id: k.ID, about: k.About, replies: []script.Reply{k.Final(text)}, want: saying(text),
			output: "the answer alone"}
	}
	args := map[string]string{
		"exec":  `{"command":"ls -l reports"}`,
		"read":  `{"path":"notes/todo.md"}`,
		"write": `{"path":"shopping.txt","content":"milk\nbread\n"}`,
	}[k.Tool]
	return show{id: k.ID, about: k.About, replies: k.Call(k.Tool, args), want: calling(k.Tool, args),
		output: runs}
}

// guards returns replies with calls that must not be made, or not yet, and an error that must be reworded.
func guards() []show {
	const refusal = "We must not run rm -rf build here. Shall I list its files instead?"
	const quoted = "To do it yourself, write `[TOOL:exec|command=rm -rf build]`.\n```\nAction: exec\nAction Input: {\"command\": \"rm -rf build\"}\n```\nis another way."
	const answered = "I have no tool for that."
	const careful = "Then I leave the system alone, and delete the logs of the workspace."
	const tooLong = "You passed 140001 input tokens and requested 8192 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 122880 tokens. Please reduce the length of the input prompt."
	const known = "This model's maximum context length is 131072 tokens. However, you requested 148193 tokens (140001 in the messages, 8192 in the completion). Please reduce the length of the messages. "
	const file = `{"path":"shopping.txt","content":"milk\nbread\neggs\n"}`
	cut := script.Native("write", strings.TrimSuffix(file, `gs\n"}`))
	cut.Finish = "length"
	return []show{
		{id: "refusal", about: "prose that speaks of a command", replies: []script.Reply{script.Text(refusal)},
			want: saying(refusal), output: "the same text, and no call", harmless: true},
		{id: "quoted-calls", about: "prose that quotes calls", replies: []script.Reply{script.Text(quoted)},
			want: saying(quoted), output: "the same text, and no call", harmless: true},
		{id: "cut-off", about: "a call that ends in the middle of a value", replies: []script.Reply{cut, script.Native("write", file)},
			want: calling("write", file), output: "half a file is never written: the model sends it whole"},
		{id: "unknown-tool", about: "a tool that was not offered", replies: []script.Reply{script.Native("launch_rocket", `{"to":"moon"}`), script.Text(answered)},
			want: saying(answered), output: "the model is told, and answers"},
		{id: "not-allowed", about: "a command that would delete the system, written in a roundabout way",
			replies: []script.Reply{script.Native("exec",
				`{"command":"d=/; echo $d | xargs -I% sh -c 'rm -rf %'"}`), script.Text(careful)},
			want: saying(careful), output: "it never leaves: the model is told why, and answers"},
		{id: "overflow", about: "a prompt that is too long, in words that OpenClaw does not know",
			replies: []script.Reply{script.Fail(http.StatusBadRequest, tooLong)},
			want: answer{status: http.StatusBadRequest, fault: "context_length_exceeded: " +
				known + tooLong},
			output: "OpenClaw compacts the conversation and goes on"},
	}
}

// slowReply is a slow thought and text.
func slowReply() show {
	text := strings.Repeat("Text flows while the model writes. ", 9)
	reply := script.Text(text).Thinking("A long answer is wanted.")
	reply.Pause = 8 * time.Millisecond
	return show{id: "slow", about: "a long answer", replies: []script.Reply{reply}, want: saying(text),
		harmless: true}
}

// houseStyle is a call that no built-in rule reads.
func houseStyle() show {
	reply := script.Text(`<<exec(command="ls -l reports")>>`)
	return show{id: "house-style", about: "calls in a style of one's own", replies: []script.Reply{reply},
		want: calling("exec", `{"command":"ls -l reports"}`), output: runs}
}

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

// caller asks as OpenClaw does: streamed, with tools. It shares no code with the sidecar, so that it does
// not repeat a mistake.
type caller struct {
	http *http.Client
	key  string // bearer token; empty: none
}

func newCaller() caller {
	return caller{http: &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
}

// answer is one reply as a caller reads it.
type answer struct {
	text, reasoning string
	calls           []call
	finish          string
	status          int // of HTTP
	// an error in the body or in the stream: its code, if that is a word, and its message
	fault string
	rules string        // X-Rules-Version
	first time.Duration // time to the first text
	asked int           // requests to the model
}

type call struct{ ID, Name, Args string }

// ask sends one message to the server at base and reads the reply to its end.
func (c caller) ask(ctx context.Context, base, message string) (answer, error) {
	return c.asks(ctx, base, "gpt-oss", message, offered())
}

// asks is ask for a model and tools.
func (c caller) asks(ctx context.Context, base, model, message string, tools any) (a answer, err error) {
	body, err := json.Marshal(map[string]any{
		"model": model, "stream": true, "tools": tools,
		"messages": []map[string]string{{"role": "user", "content": "Hello."},
			{"role": "assistant", "content": "What shall I do?"}, {"role": "user", "content": message}},
	})
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions",
		bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	began := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status, a.rules = resp.StatusCode, resp.Header.Get("X-Rules-Version")
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, isEvent := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case data == "[DONE]", !isEvent && a.status == http.StatusOK:
			continue
		case !gjson.Valid(data):
			return a, fmt.Errorf("this is not JSON: %q", data)
		}
		a.add(gjson.Parse(data))
		if a.text != "" && a.first == 0 {
			a.first = time.Since(began)
		}
	}
	return a, lines.Err()
}

// add adds one event, or the body of an error.
func (a *answer) add(doc gjson.Result) {
	if e := doc.Get("error"); e.IsObject() {
		a.fault = strings.TrimPrefix(e.Get("code").Str+": "+e.Get("message").Str, ": ")
	}
	for _, c := range doc.Get("choices").Array() {
		delta := c.Get("delta")
		a.text += delta.Get("content").Str
		// vLLM uses the latter name
		a.reasoning += delta.Get("reasoning_content").Str + delta.Get("reasoning").Str
		a.finish = cmp.Or(c.Get("finish_reason").Str, a.finish)
		for _, t := range delta.Get("tool_calls").Array() {
			i := int(t.Get("index").Int())
			for i >= len(a.calls) {
				a.calls = append(a.calls, call{})
			}
			at := &a.calls[i]
			at.ID += t.Get("id").Str
			at.Name += t.Get("function.name").Str
			at.Args += t.Get("function.arguments").Str
		}
	}
}

// toolbox returns OpenClaw's three most used tools: name → arguments, all required texts.
func toolbox() map[string][]string {
	return map[string][]string{"exec": {"command"}, "read": {"path"}, "write": {"content", "path"}}
}

// offered returns the toolbox as a request has it.
func offered() []any {
	var out []any
	box := toolbox()
	for _, name := range slices.Sorted(maps.Keys(box)) {
		properties := map[string]any{}
		for _, arg := range box[name] {
			properties[arg] = json.RawMessage(`{"type":"string"}`)
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": name,
			"parameters": map[string]any{"type": "object", "properties": properties, "required": box[name],
				"additionalProperties": false},
		}})
	}
	return out
}
