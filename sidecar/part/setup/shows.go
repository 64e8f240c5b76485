package setup

import (
	"net/http"
	"slices"
	"strings"
	"time"

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
		{id: "unknown-tool", about: "a tool that nobody offered", replies: []script.Reply{script.Native("launch_rocket", `{"to":"moon"}`), script.Text(answered)},
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
