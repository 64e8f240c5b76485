package e2e

import (
	"net/http"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// agent is a program that runs commands for a model, and how it is used. In its texts {base} stands for the
// base URL, {server} for that without /v1, {home} and {work} for its folders, {message} for what the user
// says. In calls {command}, {path}, {text}, {patch} and {heredoc} stand for JSON strings.
type agent struct {
	id      string            // its folder in testdata/agents, which names its version
	title   string            // on the page
	program string            // below node_modules
	files   map[string]string // settings below {home}, beside those that connect writes
	env     []string
	args    []string // of the command line for one message
	shell   agentCall
	write   agentCall
	// path of gjson, in a list of the objects that it prints, to what the user reads; "": all that it prints
	reads string
	fails string // the same to errors; "": its exit code says it
	quick bool   // make test runs it
}

// folder is where its package.json is.
func (a agent) folder() string { return "../testdata/agents/" + a.id }

// agentCall is how an agent's model calls a tool.
type agentCall struct{ tool, args string }

func agents() []agent {
	return []agent{
		{
			id: "opencode", title: "opencode", program: "opencode-linux-*/bin/opencode",
			files: map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":"allow"}`},
			env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
				"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
			args:  []string{"run", "--format", "json", "{message}"},
			shell: agentCall{"bash", `{"command":{command},"description":"Runs a command"}`},
			write: agentCall{"write", `{"filePath":{path},"content":{text}}`},
			reads: `#(type=="text")#.part.text`, fails: `#(type=="error")#.error`,
		},
		{
			id: "codex", title: "Codex", program: "@openai/codex/bin/codex.js", quick: true,
			files: map[string]string{".codex/config.toml": `approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
analytics = { enabled = false }
`},
			args:  []string{"exec", "--skip-git-repo-check", "--json", "{message}"},
			shell: agentCall{"exec_command", `{"cmd":{command}}`},
			write: agentCall{"exec_command", `{"cmd":{heredoc}}`},
			reads: `#(type=="item.completed")#.item|#(type=="agent_message")#.text`,
			fails: `#(type=="turn.failed")#.error.message`,
		},
		{
			id: "pi", title: "pi", program: "@earendil-works/pi-coding-agent/dist/bundle/cli.js", quick: true,
			env:   []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"},
			args:  []string{"--offline", "--mode", "json", "-p", "{message}"},
			shell: agentCall{"bash", `{"command":{command}}`},
			write: agentCall{"write", `{"path":{path},"content":{text}}`},
			reads: `#(type=="message_end")#.message|#(role=="assistant")#.content|@flatten|#(type=="text")#.text`,
			fails: `#(type=="agent_end")#.messages|@reverse|0|@reverse|0.errorMessage`,
		},
		{
			id: "qwen-code", title: "Qwen Code", program: "@qwen-code/qwen-code/cli-entry.js",
			files: map[string]string{".qwen/settings.json": `{"general":{"enableAutoUpdate":false,"disableAutoUpdate":true},
				"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`},
			args:  []string{"--yolo", "--output-format", "json", "{message}"},
			shell: agentCall{"run_shell_command", `{"command":{command},"is_background":false}`},
			write: agentCall{"write_file", `{"file_path":{path},"content":{text}}`},
			reads: `#(type=="assistant")#.message.content|@flatten|#(type=="text")#.text`,
			fails: `#(is_error==true)#.error`,
		},
		{
			id: "continue", title: "Continue", program: "@continuedev/cli/dist/cn.js",
			env:   []string{"CONTINUE_TELEMETRY_ENABLED=0", "CONTINUE_CLI_ENABLE_TELEMETRY=0"},
			args:  []string{"--config", "{home}/.continue/config.yaml", "--auto", "-p", "{message}"},
			shell: agentCall{"Bash", `{"command":{command}}`},
			write: agentCall{"Write", `{"filepath":{path},"content":{text}}`},
		},
		{
			id: "cline", title: "Cline", program: "@cline/cli-linux-*/bin/cline",
			env:   []string{"CLINE_NO_AUTO_UPDATE=1", "CLINE_TELEMETRY_DISABLED=1"},
			args:  []string{"--json", "-c", "{work}", "{message}"},
			shell: agentCall{"run_commands", `{"commands":[{command}]}`},
			write: agentCall{"apply_patch", `{"input":{patch}}`},
			reads: `#(type=="agent_event")#.event|#(type=="content_end")#|#(contentType=="text")#.text`,
			fails: `#(finishReason=="error")#.text`,
		},
		{
			id: "goose", title: "goose", program: "@aaif/goose-binary-linux-*/bin/goose",
			files: map[string]string{".config/goose/config.yaml": "GOOSE_TELEMETRY_ENABLED: false\n"},
			env: []string{"GOOSE_MODE=auto", "OPENAI_API_KEY=none",
				"OPENAI_CUSTOM_HEADERS=x-workspace={work}", "GOOSE_DISABLE_KEYRING=1",
				"GOOSE_TELEMETRY_OFF=1"},
			args:  []string{"run", "--no-session", "--quiet", "-t", "{message}"},
			shell: agentCall{"shell", `{"command":{command}}`},
			write: agentCall{"write", `{"path":{path},"content":{text}}`},
		},
	}
}

// The call of a turn writes this file, unless it is cut off in its name.
const (
	theFile = "ran.txt"
	cutFile = "ra"
)

// theHalf is what comes of the answer before a stream ends.
const theHalf = "All is do"

// agentTurns are what the model server sends to an agent.
func agentTurns(a agent) []scenario {
	name := a.shell.tool
	native := func(args string) script.Reply { return script.Native(name, args) }
	busy := script.Fail(http.StatusTooManyRequests, "queue full, slow down")
	busy.Retry = "2"
	text, half := script.Text(theAnswer), script.Text(theHalf)
	tooLong := servers.OverflowVLLM(131072, 150000)
	return []scenario{
		{id: "native", about: "a thought and a call, and no fault", runs: 1, thought: true,
			says: called(func(args string) script.Reply { return native(args).Thinking(theThought) })},
		{id: "leaked", about: "the call in channel tokens, as text", runs: 1,
			says: called(func(args string) script.Reply { return script.LeakedHarmony(name, args) })},
		{id: "in-reasoning", about: "the call in the reasoning, and no text", runs: 1,
			says: called(func(args string) script.Reply { return script.InReasoning(name, args) })},
		{id: "bad-json", about: "arguments with a comma too many and a token behind them", runs: 1,
			says: called(func(args string) script.Reply {
				return native(script.TrailingComma(args) + "<|call|>")
			})},
		{id: "empty", about: "a reply without a word, then the call", runs: 1,
			says: func(args string) []script.Reply { return []script.Reply{script.Empty(), native(args)} }},
		{id: "breaks-in-text", about: "a stream that ends in a sentence, then the answer", says: always(half.Ending(script.Short), text)},
		{id: "breaks-in-call", about: "a stream that ends in the arguments of the call, then the call", runs: 1,
			says: func(args string) []script.Reply {
				return []script.Reply{native(args[:strings.Index(args,
					theFile)] + cutFile).Ending(script.Short), native(args)}
			}},
		{id: "429", about: "429 with `Retry-After: 2`, then the call", runs: 1,
			says: func(args string) []script.Reply { return []script.Reply{busy, native(args)} }},
		{id: "429-eight", about: "the same eight times", runs: 1,
			says: func(args string) []script.Reply {
				return []script.Reply{busy, busy, busy, busy, busy, busy, busy, busy, native(args)}
			}},
		{id: "too-long", about: "400, the prompt is too long, after the call has run; then the answer", runs: 1, inTurn: true, reads: "context",
			says: func(args string) []script.Reply { return []script.Reply{native(args), tooLong, text} }},
		{id: "too-long-at-once", about: "the same at each request, from the first on", reads: "context", says: always(tooLong)},
		{id: "circle", about: "the same call twelve times, with the same result; then the answer",
			runs: 6, inTurn: true, reads: "made the same call",
			says: func(args string) []script.Reply {
				return append(slices.Repeat([]script.Reply{native(args)}, 12), text)
			}},
		{id: "asked", about: "a command about which the policy asks: `git push`", runs: 1,
			says: called(func(args string) script.Reply {
				return native(strings.Replace(args, "echo printed", "git push", 1))
			})},
		{id: "write", about: "a new file of the project, by its absolute path", runs: 1, tool: "write", says: called(func(args string) script.Reply { return script.Native(a.write.tool, args) })},
	}
}

// args are the arguments of a call in a folder.
func (c agentCall) fill(work, command string) string {
	file := work + "/" + theFile
	patch := "*** Begin Patch\n*** Add File: " + file + "\n+ran\n*** End Patch"
	return strings.NewReplacer("{command}", quoted(command), "{patch}", quoted(patch),
		"{heredoc}", quoted("apply_patch <<'EOF'\n"+patch+"\nEOF"),
		"{path}", quoted(file), "{text}", quoted("ran\n")).Replace(c.args)
}

// worseBecause says why a turn of an agent ends worse with the sidecar than without it, by their ids.
func worseBecause() map[string]string {
	const asks = "it runs commands without a question, so the sidecar asks, and no person can answer without `--admin`. " +
		"The user reads that, and which rule asks."
	return map[string]string{"opencode/asked": asks, "pi/asked": asks, "goose/asked": asks}
}
