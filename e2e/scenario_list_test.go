package e2e

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// scenario is one turn in which something goes wrong.
type scenario struct {
	id, about string
	kind      int // of scenarioKinds, under which the page shows it
	// says is what the model server sends until a call has its result, one reply for each
	// request, the last of them again and again. args are arguments of the tool.
	says func(args string) []script.Reply
	// what it sends once it has read what was wrong; nil: a good call, where there was one
	told   *script.Reply
	done   *script.Reply // what it sends once it has a result; nil: the answer
	inTurn bool          // its replies come in this order, whatever it has read
	turns  int           // requests that it takes where nothing goes wrong; 0: 2 with a call, else 1
	runs   int           // how often the call must run
	tool   string        // whose calls are counted; "": exec
	// reads is in what the user must read where there can be no answer; "": the answer.
	reads     string
	shown     bool   // the user must read what the model says last, and it must not run
	page      bool   // the model has it from a page that it has read
	copied    bool   // it is a call of a page: the model is told, and answers behind what stands in front
	thought   bool   // the thought must come back with the result of the call
	chat      bool   // there is no such thing in the Responses API
	slow      bool   // the gateway waits for a short time only
	history   bool   // there were turns before
	server    string // executor: the provider runs the calls by itself
	elsewhere bool   // another test checks it with a gateway, more closely
}

// scenarioKinds are the headings of the page.
var scenarioKinds = []string{"Calls", "Text", "The end of a reply", "Thoughts", "Errors of the model server",
	"Silence", "Text that only shows a call", "Work that is done once"}

const (
	ofCalls = iota
	ofText
	ofEnds
	ofThoughts
	ofErrors
	ofSilence
	ofQuotations
	ofRuns
)

// The words of the scripted model.
const (
	theAnswer  = "All is done, and well."
	theThought = "The inner voice says that a tool can tell."
)

// others are faults that TestGateway and TestSilence have, too.
var others = []string{
	"500", "503", "reset-after-text", "401", "402", "403", "harmony-error-always", "empty-always",
	"thought-only-always",
	"filtered", "unknown-finish", "thought-and-call", "late-headers", "slow-thought",
}

func scenarios() []scenario {
	var out []scenario
	for kind, all := range [][]scenario{callScenarios(), textScenarios(), endScenarios(), thinkScenarios(),
		errorScenarios(), silentScenarios(), shownScenarios(), runScenarios()} {
		for _, s := range all {
			s.kind = kind
			s.elsewhere = s.elsewhere || slices.Contains(others, s.id)
			out = append(out, s)
		}
	}
	return out
}

// always is a server that sends these replies whatever the arguments.
func always(replies ...script.Reply) func(string) []script.Reply {
	return func(string) []script.Reply { return replies }
}

// called is a reply with one call of exec.
func called(r func(args string) script.Reply) func(string) []script.Reply {
	return func(args string) []script.Reply { return []script.Reply{r(args)} }
}

// native is a call in the server's own form, with damaged arguments.
func native(damage func(args string) string) func(string) []script.Reply {
	return called(func(args string) script.Reply { return script.Native("exec", damage(args)) })
}

func renamed(name string) func(string) []script.Reply {
	return called(func(args string) script.Reply { return script.Native(name, args) })
}

func callScenarios() []scenario {
	var out []scenario
	for _, k := range script.Kinds() {
		s := scenario{id: k.ID, about: k.About, runs: 1, tool: k.Tool, elsewhere: true}
		if damageServer(k) == "ollama" {
			s.server = "ollama"
		}
		if k.Tool == "exec" {
			s.tool = ""
		}
		s.says = func(args string) []script.Reply { return k.Call(k.Tool, args) }
		if k.Final != nil {
			final := k.Final(theAnswer)
			s.done = &final
		}
		out = append(out, s)
	}
	bad := func(id, about string, says func(string) []script.Reply) scenario {
		return scenario{id: id, about: about, runs: 1, says: says}
	}
	return append(out,
		bad("cut-arguments", "the arguments end in the middle of a string",
			native(func(a string) string { return a[:len(a)-4] })),
		scenario{id: "token-behind-arguments", about: "a channel token behind the arguments", runs: 1,
			says: native(func(a string) string { return a + "<|call|>" })},
		bad("words-for-arguments", "words in place of arguments",
			native(func(string) string { return "echo not json at all" })),
		bad("two-objects", "two objects for one call",
			native(func(a string) string { return a + strings.Replace(a, "ran", "ran too", 1) })),
		bad("array-for-arguments", "an array in place of an object",
			native(func(string) string { return `["echo x"]` })),
		scenario{id: "no-arguments", about: "an empty text for the arguments of a tool that needs none",
			runs: 1, tool: "session_status",
			says: called(func(string) script.Reply { return script.Native("session_status", "") })},
		bad("missing-argument", "the argument that the tool needs is missing",
			native(func(string) string { return `{}` })),
		scenario{id: "extra-argument", about: "an argument that the tool does not know", runs: 1,
			says: native(func(a string) string { return strings.TrimSuffix(a, "}") + `,"bogus":1}` })},
		bad("list-for-text", "a list where a text belongs",
			native(func(string) string { return `{"command":["echo","x","&&","ls"]}` })),
		bad("unknown-name", "a tool that is not there", renamed("no_such_tool")),
		bad("empty-name", "a call without a name", renamed("")),
		scenario{id: "name-json", about: "the name carries a channel token and json", runs: 1,
			says: renamed("exec<|channel|>json")},
		scenario{id: "name-header", about: "the name is a whole header", runs: 1,
			says: renamed("assistant<|channel|>commentary to=functions.exec")},
		scenario{id: "deferred-tool", about: "a tool that the gateway offers by name only", runs: 1,
			tool: "session_status", told: &script.Reply{Calls: script.Native("tool_call",
				`{"id":"session_status","args":{}}`).Calls},
			says: called(func(string) script.Reply { return script.Native("session_status", "{}") })},
		scenario{id: "no-id", about: "a call without an id", runs: 1,
			says: called(func(a string) script.Reply {
				return script.Reply{Calls: []script.Call{{Name: "exec", Arguments: a}}}
			})},
		scenario{id: "same-ids", about: "two calls with one id", runs: 2,
			says: called(func(a string) script.Reply {
				return script.Reply{Calls: []script.Call{{ID: "same", Name: "exec", Arguments: a},
					{ID: "same", Name: "exec", Arguments: strings.Replace(a, "ran", "ran too", 1)}}}
			})},
		scenario{id: "two-calls", about: "two calls in one reply", runs: 2,
			says: called(func(a string) script.Reply {
				return script.Reply{Calls: []script.Call{{ID: "one", Name: "exec", Arguments: a},
					{ID: "two", Name: "exec", Arguments: strings.Replace(a, "ran", "ran too", 1)}}}
			})},
		scenario{id: "text-and-call", about: "a sentence, then a call", runs: 1,
			says: called(func(a string) script.Reply {
				r := script.Native("exec", a)
				r.Content = "Let me check that."
				return r
			})},
		scenario{id: "failing-command", about: "the command fails", runs: 1,
			says: native(func(a string) string { return strings.Replace(a, "; echo", "; exit 3; echo", 1) })},
		scenario{id: "missing-file", about: "the file is not there", runs: 1, tool: "read",
			says: called(func(string) script.Reply {
				return script.Native("read", `{"path":"not-there.txt"}`)
			})},
		scenario{id: "long-output", about: "the command prints 350 KB", runs: 1,
			says: native(func(a string) string {
				return strings.Replace(a, "; echo", "; seq 1 60000; echo", 1)
			})},
	)
}

// leaked is a call as text, in which ARGS stands for its arguments.
func leaked(text string) func(string) []script.Reply {
	return called(func(args string) script.Reply {
		return script.Text(strings.ReplaceAll(text, "ARGS", args))
	})
}

func textScenarios() []scenario {
	return []scenario{
		{id: "code-header", about: "`commentary to=exec code` and the arguments", runs: 1, says: leaked("commentary to=exec codeARGS")},
		{id: "code-header-tokens", about: "the same with channel tokens", runs: 1, says: leaked("<|channel|>commentary to=exec code<|message|>ARGS<|call|>")},
		{id: "analysis-header", about: "a call on the channel of the thoughts", runs: 1, says: leaked("analysis to=functions.exec code<|message|>ARGS")},
		{id: "bare-object", about: "a call object and nothing else", runs: 1, says: leaked(`{"name":"exec","arguments":ARGS}`)},
		{id: "bracketed", about: "`[exec]`, the arguments, `[END_TOOL_REQUEST]`", runs: 1, says: leaked("[exec]\nARGS\n[END_TOOL_REQUEST]")},
		{id: "start-header", about: "a header with the start token, without a type", runs: 1, says: leaked("<|start|>assistant<|channel|>commentary to=functions.exec<|message|>ARGS<|call|>")},
		{id: "word-before-header", about: "a word, then a header", runs: 1, says: leaked("Sure. <|channel|>commentary to=exec code<|message|>ARGS<|call|>")},
		{id: "leaked-answer", about: "thoughts and answer in channel tokens", says: always(script.Text("<|channel|>analysis<|message|>" + theThought + "<|end|><|start|>assistant<|channel|>final<|message|>" + theAnswer))},
		{id: "final-tokens", about: "the answer in the tokens of its channel", says: always(script.Text("<|channel|>final<|message|>" + theAnswer + "<|return|>"))},
		{id: "think-tag", about: "thoughts in a think tag before the answer", says: always(script.Text("<think>" + theThought + "</think>" + theAnswer))},
	}
}

// finishing is the reply with another finish_reason.
func finishing(r script.Reply, reason string) script.Reply {
	r.Finish = reason
	return r
}

func endScenarios() []scenario {
	const part = "All is do"
	text := script.Text(theAnswer)
	half := script.Text(part)
	return []scenario{
		{id: "stop-after-call", about: "a call, and `stop`", runs: 1, chat: true, says: called(func(a string) script.Reply { return finishing(script.Native("exec", a), "stop") })},
		{id: "stop-after-text-and-call", about: "a sentence, a call, and `stop`", runs: 1, chat: true, says: called(func(a string) script.Reply {
			r := finishing(script.Native("exec", a), "stop")
			r.Content = "I will run it."
			return r
		})},
		{id: "cut-text", about: "`length` in a sentence", reads: part, says: always(finishing(half, "length"))},
		{id: "cut-call", about: "`length` in the arguments of a call", runs: 1,
			says: called(func(a string) script.Reply {
				return finishing(script.Native("exec", a[:len(a)-9]), "length")
			})},
		{id: "filtered", about: "`content_filter` in a sentence", reads: part, says: always(finishing(half, "content_filter"))},
		{id: "unknown-finish", about: "`repetition` in a sentence", chat: true, reads: part, says: always(finishing(half, "repetition"))},
		{id: "no-finish", about: "an answer without a finish_reason", chat: true, says: always(text.Ending(script.Unsaid))},
		{id: "no-finish-after-call", about: "a call without a finish_reason", runs: 1, chat: true, says: called(func(a string) script.Reply { return script.Native("exec", a).Ending(script.Unsaid) })},
		{id: "no-end", about: "a stream that ends in a sentence, the next try works", says: always(half.Ending(script.Short), text)},
		{id: "no-usage", about: "an answer without usage", says: always(script.Reply{Content: theAnswer, NoUsage: true})},
		{id: "no-stream", about: "one JSON body in place of a stream", says: always(script.Reply{Content: theAnswer, Whole: true})},
		{id: "no-stream-call", about: "the same with a call", runs: 1, says: called(func(a string) script.Reply {
			r := script.Native("exec", a)
			r.Whole = true
			return r
		})},
		{id: "garbled-event", about: "an event that is no JSON, the next try works", says: always(script.Reply{End: script.Garbled}, text)},
		{id: "empty-always", about: "no word, however often it is asked", reads: "The model gave an empty reply", says: always(script.Empty())},
		{id: "call-again-and-again", about: "twenty calls, all the same, before it answers", runs: 6, reads: "It was stopped", says: func(a string) []script.Reply {
			return append(slices.Repeat([]script.Reply{script.Native("exec", a)}, 20), text)
		}, inTurn: true},
	}
}

func thinkScenarios() []scenario {
	both := script.Reply{Deltas: []string{`{"reasoning":"` + theThought +
		`","reasoning_content":"` + theThought + `"}`, `{"content":"` + theAnswer + `"}`}}
	inContent := func(a string) script.Reply {
		return script.Reply{Deltas: []string{`{"reasoning_content":"` + theThought + `"}`},
			Calls: script.Native("exec", a).Calls}
	}
	return []scenario{
		{id: "thought-and-answer", about: "a thought, then the answer", says: always(script.Text(theAnswer).Thinking(theThought))},
		{id: "thought-twice", about: "the same thought in both fields that servers use", chat: true, says: always(both)},
		{id: "thought-and-call", about: "a thought in `reasoning`, then a call", runs: 1, thought: true, says: called(func(a string) script.Reply { return script.Native("exec", a).Thinking(theThought) })},
		{id: "thought-content-and-call", about: "a thought in `reasoning_content`, then a call", runs: 1, thought: true, chat: true, says: called(inContent)},
		{id: "thought-only", about: "a thought and no answer, until it is asked for one", says: always(servers.OnlyThought(theThought)), told: &script.Reply{Content: theAnswer}},
		{id: "thought-only-always", about: "a thought and no answer, however often it is asked", reads: "gave no answer", says: always(servers.OnlyThought(theThought))},
	}
}
