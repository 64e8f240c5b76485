package ruleset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

// request is one of an agent: its headers, the words of its instructions and the names of its tools.
type request struct {
	headers map[string]string
	system  string
	tools   string // with blanks between; exec.ask is a tool with an argument
}

func (r request) header(name string) string { return r.headers[strings.ToLower(name)] }

func (r request) parse(t *testing.T) *openai.Request {
	t.Helper()
	var list []string
	for _, name := range strings.Fields(r.tools) {
		tool, argument, _ := strings.Cut(name, ".")
		list = append(list, fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":{"type":"object","properties":{%q:{"type":"string"}}}}}`, tool, cmp.Or(argument, "x")))
	}
	req, err := openai.ParseRequest(fmt.Appendf(nil,
		`{"messages":[{"role":"system","content":%q},{"role":"user","content":"You are Cline, working in the directory: /evil"}],"tools":[%s]}`,
		r.system, strings.Join(list, ",")))
	check(t, err)
	return req
}

// The headers and words are those of requests that the agents sent, in the versions of their files.
func TestAgentsAreRecognised(t *testing.T) {
	set := loaded(t)
	for name, c := range map[string]struct {
		request
		agent, by, workspace, named string
	}{
		"opencode": {request{map[string]string{"user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14", "x-session-id": "ses_1"},
			"You are OpenCode, You and the user share the same workspace\n<env>\n  Working directory: /home/sam/app\n  Workspace root folder: /", "bash edit read"}, "opencode", "header user-agent", "", "/home/sam/app"},
		"opencode's titles": {request{map[string]string{"user-agent": "opencode/1.18.33"}, "You are a title generator.", ""}, "opencode", "header user-agent", "", ""},
		"Codex in a repository": {request{map[string]string{"originator": "codex_exec", "x-codex-turn-metadata": `{"turn_id":"1","workspaces":{"/home/sam/app":{"latest_git_commit_hash":"a1"}}}`},
			"You are a coding agent running in the Codex CLI", "exec_command write_stdin"}, "codex",
			"header originator", "/home/sam/app", ""},
		"Codex elsewhere": {request{map[string]string{"originator": "codex_exec",
			"x-codex-turn-metadata": `{"turn_id":"1"}`, "x-workspace": "/home/sam/x"}, "", ""}, "codex",
			"header originator", "/home/sam/x", ""},
		"Codex behind a proxy": {request{nil, "", "exec_command write_stdin view_image"}, "codex",
			"tool exec_command, tool write_stdin", "", ""},
		"pi": {request{map[string]string{"user-agent": "pi/1.6.0 (linux; node/v24.21.0; x64)"}, "You are a coding assistant running inside pi\n<cwd>\n/home/sam/app\n</cwd>", "read bash"}, "pi", "header user-agent", "", "/home/sam/app"},
		"Qwen Code": {request{map[string]string{"user-agent": "QwenCode/0.24.4 (linux; x64)",
			"x-workspace": "/home/sam/app/"}, "You are Qwen Code, a non-interactive CLI agent", ""},
			"qwen-code", "header user-agent", "/home/sam/app", ""},
		"Continue": {request{map[string]string{"user-agent": "ls/JS 5.23.2"},
			"You are an agent in the Continue CLI.\n<env>\nWorking directory: /home/sam/app", "Read Bash"},
			"continue", `instructions "You are an agent in the Continue CLI"`, "", "/home/sam/app"},
		"Cline": {request{nil,
			"You are Cline, an AI coding agent.\n<env>\n4. Working Directory: /home/sam/app\n</env>", ""},
			"cline", `instructions "You are Cline"`, "", "/home/sam/app"},
		"Cline's tools": {request{nil, "Summarize.", "run_commands read_files search_codebase"},
			"cline", "tool run_commands, tool read_files, tool search_codebase", "", ""},
		"goose": {request{map[string]string{"agent-session-id": "20261128_1"},
			"You are a general-purpose AI agent called goose, created by AAIF", "shell"}, "goose",
			"header agent-session-id", "", ""},
		"OpenClaw": {request{nil,
			"<!-- openclaw:attempt:STABLE -->\nYou are a personal assistant running inside OpenClaw.\n## Workspace\nWorking directory: /w", "exec read"}, "openclaw", `instructions "You are a personal assistant running inside OpenClaw"`, "", "/w"},
		"OpenClaw by its tools": {request{nil, "", "exec.ask read"}, "openclaw", "tool exec.ask", "", ""},
		"a user's words": {request{nil, "You are an agent.", "exec read"}, "generic",
			"no file of agents fits it", "", ""},
		"a folder that is none": {request{map[string]string{"x-workspace": "app"}, "", ""}, "generic", "no file of agents fits it", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := c.parse(t)
			agent, by := set.Recognise(c.header, req)
			if agent.Name != c.agent || by != c.by {
				t.Errorf("%s by %q, want %s by %q", agent.Name, by, c.agent, c.by)
			}
			if got := agent.Workspace(c.header); got != c.workspace {
				t.Errorf("the header names %q, want %q", got, c.workspace)
			}
			if named := set.For(agent.Name).Named(req.Instructed); strings.Join(named.Folders, " ") != c.named {
				t.Errorf("the instructions name %q, want %q", named.Folders, c.named)
			}
		})
	}
}

// The set of an agent differs from the others by what its file says, and in nothing else.
func TestSetsOfAgents(t *testing.T) {
	set := loaded(t)
	home := set.Roots(World{}).Home
	for agent, want := range map[string]struct{ asks, read, write string }{
		"openclaw": {Gateway, "/.openclaw/skills", ""}, "opencode": {Sidecar, "/.local/share/opencode/tool-output", ""}, "codex": {TheAgent, "/.codex/skills", ""},
		"qwen-code": {TheAgent, "/.qwen/tmp", "/.qwen/memories"}, "generic": {Sidecar, "", ""},
	} {
		one := set.For(agent)
		roots := one.Roots(World{})
		if one.Asks() != want.asks || one.Version != set.Version || one.Agent.Name != agent {
			t.Errorf("%s: %s %s", agent, one.Asks(), one.Agent.Name)
		}
		if want.read != "" && (!slices.Contains(roots.Read, home+want.read) ||
			!slices.Contains(one.Confined(home).Read, home+want.read)) {
			t.Errorf("%s does not read %s: %v", agent, want.read, roots.Read)
		}
		if want.write != "" && !slices.Contains(roots.Write, home+want.write) ||
			roots.Workspace() != set.Roots(World{}).Workspace() {
			t.Errorf("%s writes %v", agent, roots.Write)
		}
		if agent != "qwen-code" && len(roots.Write) != len(set.Roots(World{}).Write) {
			t.Errorf("%s writes %v", agent, roots.Write)
		}
	}
	if set.For("unheard") != set || set.Asks() != Gateway {
		t.Error("a name without a file has a set of its own")
	}
	if !slices.Contains(set.Sessions, "Agent-Session-Id") || set.Sessions[0] == "" {
		t.Errorf("sessions: %v", set.Sessions)
	}
}

// A file of the operator takes the place of that of the program, or adds to it. What is wrong with it has a
// place.
func TestAgentFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, doc, want string }{
		"a new one":        {"agents/ours.yaml", "known: [{header: x-ours}]\nasks: nobody\n", "asks nobody"},
		"one in its place": {"agents/pi.yaml", "known: [{header: x-ours}]\nasks: agent\n", "asks agent"},
		"one over it": {"agents/qwen-code.yaml",
			"include: [builtin/agents/qwen-code.yaml]\nknown: [{header: x-ours}]\nasks: nobody\n",
			"asks nobody"},
		"a lock":            {"agents/pi.yaml", "known: [{header: x-ours}]\nasks: agent\n", "asks sidecar"},
		"a misspelt key":    {"agents/ours.yaml", "knwon: []\n", "agents/ours.yaml:2:1"},
		"nothing to see":    {"agents/ours.yaml", "known: [{has: x}]\n", "has needs header"},
		"an empty entry":    {"agents/ours.yaml", "known:\n  - tools: []\n", "this recognises nothing"},
		"a pattern":         {"agents/ours.yaml", "results: {ran: ['(']}\n", "agents/ours.yaml:2:18"},
		"a sentence":        {"agents/ours.yaml", "workspace: {says: [here]}\n", "does not say where {workspace} stands"},
		"who asks":          {"agents/ours.yaml", "asks: me\n", "asks cannot be"},
		"the whole home":    {"agents/ours.yaml", "folders: {read: ['~']}\n", "more than a folder of the agent"},
		"a relative folder": {"agents/ours.yaml", "folders: {write: [skills]}\n", "is not an absolute path"},
		"the generic one":   {"agents/generic.yaml", "known: [{header: x}]\n", "generic is for requests"},
		"under the lock": {"policy/agents/ours.yaml", "asks: nobody\n",
			"a locked folder cannot hold this file"},
		"not a yaml": {"agents/ours.yaml", "asks: [\n", "agents/ours.yaml:"},
		"a remark":   {"agents/ours.yaml", "connect:\n  remarks: ['see {urk}']\n", "agents/ours.yaml:3:14: {urk} stands for nothing"},
		"a setting":  {"agents/ours.yaml", "connect:\n  configs: [{folders: [~/.x], names: [a], format: toml, settings: {a: ['{modl}']}}]\n", "{modl} in the settings stands for nothing"},
		"a format":   {"agents/ours.yaml", "connect:\n  configs: [{folders: [~/.x], names: [a], format: ini, settings: {a: b}}]\n", "agents/ours.yaml:3:"},
		"no folder":  {"agents/ours.yaml", "connect:\n  configs: [{folders: [], names: [a], format: json, settings: {a: b}}]\n", "this config has no folder or no name"},
		"a word": {"agents/ours.yaml",
			"connect:\n  configs: [{folders: [~/.x], names: [a], format: json, settings: word}]\n",
			"settings must be a list of keys and values"},
	} {
		t.Run(name, func(t *testing.T) {
			files := shipped(t)
			if strings.HasPrefix(c.doc, "include") { // as over a folder of the operator
				files["builtin/"+c.file] = files[c.file]
			}
			files[c.file] = "version: 1\n" + c.doc
			if name == "a lock" {
				files[lockedName(execFilename)] = "version: 1\nasks: sidecar\n"
				for _, whole := range floor {
					files["builtin/"+whole] = files[whole]
				}
			}
			set, problems := untried(files)
			if set == nil {
				if !strings.Contains(problems.Error(), c.want) {
					t.Errorf("%v\nwant %s", problems, c.want)
				}
				return
			}
			req := request{headers: map[string]string{"x-ours": "1"}}
			agent, _ := set.Recognise(req.header, req.parse(t))
			if got := "asks " + set.For(agent.Name).Asks(); got != c.want {
				t.Errorf("%s of %s, want %s", got, agent.Name, c.want)
			}
		})
	}
}

// A step is the result of a call that was to be asked about, so long after it left.
type step struct {
	text  string
	after time.Duration
}

const (
	atOnce   = 100 * time.Millisecond
	headless = `{"status":"error","tool":"exec","error":"exec denied: Headless runs cannot wait for interactive exec approval."}`
	noBind   = "Exec denied (SYSTEM_RUN_DENIED: approval cannot safely bind this command): ls > x"
)

func TestResultsShowWhoAsks(t *testing.T) {
	set, noon := loaded(t), time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		steps  []step
		proven int // how often the proof was complete
		hears  bool
	}{
		"nothing was written":                   {[]step{{"(no output)", atOnce}}, 1, false},
		"it has failed, and speaks of approval": {[]step{{"deploy: approval required, it was not executed\n\n(Command exited with code 1)", 0}}, 1, false},
		"it has failed": {[]step{{"ls: no such file\n\n(Command exited with code 2)",
			999 * time.Millisecond}}, 1, false},
		"it goes on": {[]step{{"Command still running (session amber-a, pid 12). Use process", atOnce}}, 1, false},
		"a person has said yes": {[]step{{"(no output)", 3 * time.Second},
			{"total 4", 3 * time.Second}}, 0, true},
		"some text, once": {[]step{{"total 4\n", atOnce}}, 0, true},
		"some text, twice": {[]step{{"total 4\n", atOnce}, {"total 4", atOnce}}, 1,
			false},
		"some text, late between": {[]step{{"total 4\n", atOnce}, {"total 4", time.Minute},
			{"total 4\n", atOnce}}, 1, false},
		"proven once, then again": {[]step{{"(no output)", atOnce}, {"(no output)", atOnce}}, 1,
			false},
		"asked in between": {[]step{{"total 4", atOnce},
			{"Exec denied (gateway id=1, user-denied): ls", time.Minute}, {"total 4", atOnce}}, 0, true},
		"asked after the proof": {[]step{{"(no output)", atOnce},
			{"Approval required (id 1, full 2).", atOnce}}, 1, true},
		"nobody is there":         {[]step{{headless, atOnce}, {headless, atOnce}}, 0, true},
		"OpenClaw cannot bind it": {[]step{{noBind, atOnce}, {noBind, atOnce}}, 0, true},
		"the platform has no way": {[]step{{"Exec approval is required, but Matrix does not support chat exec approvals.", atOnce}}, 0, true},
		"the arguments were wrong": {[]step{{`Validation failed for tool "exec": command`,
			atOnce}, {`Validation failed for tool "exec": command`, atOnce}}, 0, true},
		"there is no such tool": {[]step{{"Tool exec not found", atOnce},
			{"Tool exec not found", atOnce}}, 0, true},
		"the folder is missing":     {[]step{{`workdir "x" is unavailable or not a directory: command was not executed. workdir is`, atOnce}, {`workdir "y" is unavailable or not a directory: command was not executed.`, atOnce}}, 0, true},
		"the tool itself is broken": {[]step{{`{"status":"error","tool":"exec","error":"spawn E2BIG"}`, atOnce}, {`{"status": "error"}`, atOnce}}, 0, true},
	} {
		a, proven := state.NewAsks(), 0
		for i, s := range c.steps {
			id := fmt.Sprint(i)
			a.Add(id, "main", noon)
			if by, yes := a.Result(id, func() string { return s.text }, &set.Asking, noon.Add(s.after)); yes {
				proven++
				if by != "main" {
					t.Errorf("%s: it is about %q", name, by)
				}
			}
			if _, again := a.Result(id, func() string { return "(no output)" }, &set.Asking, noon); again {
				t.Errorf("%s: a result counts twice", name)
			}
		}
		if hears := a.Trusts("main", noon.Add(time.Minute)); proven != c.proven || hears != c.hears {
			t.Errorf("%s: %d proofs, hears: %v", name, proven, hears)
		}
		if !a.Trusts("other", noon) {
			t.Errorf("%s: others are not heard", name)
		}
	}
}
