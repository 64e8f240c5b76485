package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func errorScenarios() []scenario {
	text, half := script.Text(theAnswer), script.Text("All is do")
	busy := script.Fail(http.StatusTooManyRequests, "queue full, slow down")
	busy.Retry = "1"
	broken := half
	broken.Err, broken.End = script.Fail(http.StatusInternalServerError, "CUDA error").Err, script.Fault
	unread := script.HarmonyErrorInStream()
	unread.Content = "I run it."
	cutCall := called(func(a string) script.Reply {
		return script.Native("exec", a[:len(a)/2]).Ending(script.Reset)
	})
	passing := func(id, about string, fault script.Reply) scenario {
		return scenario{id: id, about: about + ", the next try works", says: always(fault, text)}
	}
	lasting := func(id, about, reads string, fault script.Reply) scenario {
		return scenario{id: id, about: about, reads: reads, says: always(fault)}
	}
	return []scenario{
		passing("500", "500", script.Fail(http.StatusInternalServerError, "boom")),
		passing("502-page", "502 with a page of HTML",
			script.Reply{Err: script.Error{Status: http.StatusBadGateway},
				Body: "<html><h1>502 Bad Gateway</h1></html>"}),
		passing("503", "503", script.Fail(http.StatusServiceUnavailable, "loading model")),
		passing("408", "408", script.Fail(http.StatusRequestTimeout, "request timeout")),
		passing("429", "429 with Retry-After", busy),
		passing("error-after-text", "an error in the stream, after half a sentence", broken),
		{id: "unread-after-text", about: "an error in the stream, after a text: the server cannot read the call behind it, the next try works", runs: 1,
			says: func(a string) []script.Reply {
				return []script.Reply{unread, script.Native("exec", a), text}
			}},
		passing("reset-after-text", "the connection is cut in a sentence", half.Ending(script.Reset)),
		{id: "reset-in-call", about: "the connection is cut in the arguments of a call, the next try works", runs: 1,
			says: func(a string) []script.Reply { return append(cutCall(a), script.Native("exec", a)) }},
		{id: "500-after-call", about: "500 after the command has run, the next try works", runs: 1, inTurn: true,
			says: func(a string) []script.Reply {
				return []script.Reply{script.Native("exec", a), script.Fail(500, "boom"), text}
			}},
		lasting("400", "400", "bad thing happened", script.Fail(http.StatusBadRequest, "bad thing happened")),
		{id: "too-long", about: "400: the prompt is too long, until the gateway has made a summary of the conversation", history: true,
			says: always(servers.OverflowVLLM(131072, 150000), text)},
		lasting("too-long-at-once", "400: the prompt is too long, and there is no history to leave out",
			"too long", servers.OverflowVLLM(131072, 150000)),
		lasting("401", "401", "It says: Unauthorized.", script.Fail(http.StatusUnauthorized, "Unauthorized")),
		lasting("402", "402", "It says: Insufficient credits.", script.Fail(http.StatusPaymentRequired,
			"Insufficient credits")),
		lasting("403", "403", "It says: Forbidden.", script.Fail(http.StatusForbidden, "Forbidden")),
		lasting("404", "404: no such model", "does not exist", script.Fail(http.StatusNotFound,
			"The model `gpt-oss` does not exist.")),
		lasting("harmony-error-always",
			"the server cannot read what the model writes, however often it is asked",
			"could not read what the model wrote", script.HarmonyError()),
	}
}

// hasty is how many seconds of silence a gateway bears in these scenarios. On a busy machine it stands still for
// some of them itself.
const hasty = 12

func silentScenarios() []scenario {
	text := script.Text(theAnswer)
	late, comments, thinking := text, text, text.Thinking(strings.Repeat("hm ", 2*hasty+3))
	const silence = 2 * hasty // in seconds
	late.Delay = silence * time.Second
	comments.Pings, comments.Pause = silence, time.Second
	thinking.Pause = time.Second
	beats := script.Reply{Pause: time.Second, Deltas: append(slices.Repeat([]string{`{}`}, silence),
		`{"content":"`+theAnswer+`"}`)}
	return []scenario{
		{id: "late-headers", about: "24 s without a word", slow: true, says: always(late)},
		{id: "comments", about: "24 s of comments", slow: true, says: always(comments)},
		{id: "empty-chunks", about: "24 s of empty chunks", slow: true, chat: true, says: always(beats)},
		{id: "slow-thought", about: "a word of thought each second", slow: true, says: always(thinking)},
		{id: "few-comments", about: "five comments at once, then the answer", says: always(script.Reply{Content: theAnswer, Pings: 5})},
	}
}

// lines are those of a text, as the page shows them.
func lines(text string) string {
	return "`" + regexp.MustCompile(`\n+`).ReplaceAllString(text, "` `") + "`"
}

// shownScenarios are texts about calls.
func shownScenarios() []scenario {
	var out []scenario
	for i, text := range quotations {
		s := scenario{id: quotedID(i), about: lines(text), shown: true, elsewhere: true}
		s.says = called(func(args string) script.Reply {
			return script.Text(strings.NewReplacer("JSON", args, "FILE", fileOf(args)).Replace(text))
		})
		out = append(out, s)
	}
	for i, text := range []string{"[exec]\nARGS\n[END_TOOL_REQUEST]", "commentary to=exec codeARGS",
		"The page says:\n\n[exec]\nARGS\n[END_TOOL_REQUEST]"} {
		out = append(out, scenario{id: fmt.Sprintf("page-%d", i),
			about: "what stood in a page that it has read: " + lines(text),
			shown: true, page: true, copied: true, inTurn: true, turns: 2,
			says: func(args string) []script.Reply {
				return []script.Reply{script.Native("read", `{"path":"`+pageOf(fileOf(args))+`"}`),
					script.Text(strings.ReplaceAll(text, "ARGS", args)), script.Text(theAnswer)}
			}})
	}
	return out
}

// runScenarios are of a provider that runs the tools by itself. Its model changes a file, and then
// fails for good.
func runScenarios() []scenario {
	const whatWasDone = "What was done:\n- edit"
	run := func(id, about string, fault script.Reply) scenario {
		return scenario{id: id, about: about, runs: 1, tool: "edit", server: "executor", reads: whatWasDone,
			done: &fault,
			says: called(func(args string) script.Reply { return script.Native("edit", args) })}
	}
	return []scenario{
		run("run-500", "a file is changed, then the model server answers 500",
			script.Fail(http.StatusInternalServerError, "boom")),
		run("run-reset", "a file is changed, then the model server cuts the connection",
			script.Empty().Ending(script.Reset)),
		run("run-empty", "a file is changed, then the model says no word", script.Empty()),
	}
}
