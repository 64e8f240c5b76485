package openclaw

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

var side = Sidecar{URL: "http://127.0.0.1:8001/v1", Models: []string{"gpt-oss"},
	Serves: []string{"gpt-oss", "gpt-oss-20b"}, Window: 65536}

// worst are the findings that hurt, in short.
func worst(list []Finding) (out []string) {
	for _, f := range list {
		if f.Status != OK {
			out = append(out, fmt.Sprintf("%s %s %d", f.Status, f.Name, f.Line))
		}
	}
	return out
}

// What the block says, the check finds good, over each API, printed or merged.
func TestBlockIsFine(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		s := side
		s.API, s.Key = api, "secret"
		s.Service = &Service{Command: "/opt/bin/gpt-oss-executor", Listen: "127.0.0.1:8001",
			Upstream: "http://127.0.0.1:8000/v1", Env: jsonc.Make("A", "b"), Idle: 60000}
		printed := []byte(jsonc.Write(Block(s)))
		if !json.Valid(printed) {
			t.Fatalf("%s", printed)
		}
		if bad := worst(Check(printed, s)); bad != nil {
			t.Errorf("%s: %v in\n%s", api, bad, printed)
		}
		merged, err := Merge([]byte("{}"), s)
		if bad := worst(Check(merged, s)); err != nil || bad != nil {
			t.Errorf("%s: %v, %v in\n%s", api, err, bad, merged)
		}
		if again, err := Merge(merged, s); err != nil || string(again) != string(merged) {
			t.Errorf("%s: merged twice: %v\n%s", api, err, again)
		}
	}
}

// config is one in which everything is right, with one part replaced.
func config(t *testing.T, replace ...string) string {
	t.Helper()
	text := `{
  models: { providers: { "gpt-oss-executor": {
    baseUrl: "http://localhost:8001/v1",
    api: "openai-completions",
    timeoutSeconds: 900,
    models: [{
      id: "gpt-oss", name: "gpt-oss", reasoning: true,
      contextWindow: 65536,
      maxTokens: 8192,
      compat: { maxTokensField: "max_tokens", supportsReasoningEffort: true, sendSessionAffinityHeaders: true },
    }],
  } } },
  agents: { defaults: { model: "gpt-oss-executor/gpt-oss" } },
  tools: {
    toolSearch: { mode: "directory" },
    exec: { security: "full", ask: "on-miss" },
    loopDetection: { enabled: true },
  },
}`
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("no %q", replace[i])
		}
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	return quoted(text)
}

// quoted is a text with quotes around its names, which the tables leave out.
func quoted(text string) string {
	return regexp.MustCompile(`(^|[{,\s])([$\w]+):`).ReplaceAllString(text, `$1"$2":`)
}

func TestCheck(t *testing.T) {
	bare := regexp.MustCompile(`\w: (?:[{["0-9]|true|false)`) // a name without quotes, which is no JSON
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"fine":      {config(t), ""},
		"no JSON":   {"{\n \"a\": 1,,\n}", "fail config 2"},
		"JSON5":     {"{\n \"a\": 1,\n b: 2\n}", "fail config 3"},
		"no object": {"[]", "fail config 1"},
		"nothing": {"{}",
			"fail provider 1, warn default_model 1, fail tool_search 1, fail exec 1, warn loop_detection 1"},
		"elsewhere":    {config(t, "localhost:8001", "127.0.0.1:8000"), "fail provider 3"},
		"a variable":   {config(t, "http://localhost:8001/v1", "${BASE}"), "warn provider 3"},
		"no /v1":       {config(t, "8001/v1", "8001"), "fail provider 3"},
		"another name": {config(t, `"gpt-oss-executor": {`, `mine: {`, "gpt-oss-executor/gpt-oss", "mine/gpt-oss"), ""},
		"api":          {config(t, "openai-completions", "ollama"), "fail api 4"},
		"timeout":      {config(t, "timeoutSeconds: 900", "timeoutSeconds: 60"), "warn timeout 5"},
		"no timeout":   {config(t, "timeoutSeconds: 900,", ""), "warn timeout 2"},
		"no models":    {config(t, "models: [{", "x: [{"), "fail models 2, fail default_model 13"},
		"unknown model": {config(t, `id: "gpt-oss"`, `id: "gpt"`),
			"fail models 7, fail default_model 13"},
		"reasoning":    {config(t, "reasoning: true", "reasoning: false"), "fail reasoning 7"},
		"large window": {config(t, "65536", "131072"), "fail context_window 8"},
		"small window": {config(t, "65536", "16384"), "fail context_window 8"},
		"idle window":  {config(t, "65536", "40000"), "warn context_window 8"},
		"no window":    {config(t, "contextWindow: 65536,", ""), "warn context_window 6"},
		"long replies": {config(t, "8192", "60000"), "warn max_tokens 9"},
		"max_tokens": {config(t, "maxTokensField", "// "+"\n"+"maxTokensField", `"max_tokens"`,
			`"max_completion_tokens"`), "warn max_tokens_field 11"},
		"effort":               {config(t, "supportsReasoningEffort: true,", ""), "warn reasoning_effort 10"},
		"sessions":             {config(t, "sendSessionAffinityHeaders: true", ""), "warn session 10"},
		"sessions, responses":  {config(t, "openai-completions", "openai-responses"), "warn session 10"},
		"strict keys":          {config(t, "compat: {", "compat: { strictMessageKeys: true,"), "fail compat 10"},
		"no tools":             {config(t, "compat: {", "compat: { supportsTools: false,"), "fail compat 10"},
		"no usage":             {config(t, "compat: {", "compat: { supportsUsageInStreaming: false,"), "warn compat 10"},
		"local service":        {config(t, "api:", `localService: { command: "gpt-oss-executor", args: ["serve"] }, api:`), "fail local_service 4"},
		"local service, args":  {config(t, "api:", `localService: { command: "/x/gpt-oss-executor" }, api:`), "fail local_service 4"},
		"local service, probe": {config(t, "api:", `localService: { command: "/x/y", healthUrl: "http://127.0.0.1:9/healthz" }, api:`), "fail local_service 4"},
		"local service, stays": {config(t, "api:", `localService: { command: "/x/gpt-oss-executor", args: ["serve", "--with-parent=off"] }, api:`), "warn local_service 4"},
		"local service, env":   {config(t, "api:", `localService: { command: "/x/gpt-oss-executor", args: ["serve"], env: { GPTOSS_EXECUTOR_WITH_PARENT: "on" } }, api:`), ""},
		"local service, fine":  {config(t, "api:", `localService: { command: "/x/gpt-oss-executor", args: ["serve", "--with-parent"] }, api:`), ""},
		"tool search":          {config(t, `{ mode: "directory" }`, "true"), "fail tool_search 15"},
		"tool search, tools":   {config(t, `"directory"`, `"tools"`), "fail tool_search 15"},
		"tool search off":      {config(t, `{ mode: "directory" }`, "false"), "warn tool_search 15"},
		"tool search, not on": {config(t, `mode: "directory"`, `mode: "directory", enabled: false`),
			"warn tool_search 15"},
		"nothing is asked": {config(t, `"on-miss"`, `"off"`), "fail exec 16"},
		"exec mode": {config(t, `security: "full", ask: "on-miss"`, `mode: "full"`),
			"fail exec 16"},
		"exec, stricter mode": {config(t, `security: "full", ask: "on-miss"`, `mode: "allowlist"`),
			"warn exec 16"},
		"exec, auto": {config(t, `security: "full", ask: "on-miss"`, `mode: "auto"`),
			"warn exec 16"},
		"exec, stricter": {config(t, `"full"`, `"allowlist"`), "warn exec 16, warn exec_pair 16"},
		"exec, always": {config(t, `"full", ask: "on-miss"`, `"allowlist", ask: "always"`),
			"warn exec 16"},
		"exec, half a pair": {config(t, `security: "full", `, ``), "warn exec_pair 16"},
		"exec, both":        {config(t, `security:`, `mode: "full", security:`), "fail exec 16"},
		"exec denied":       {config(t, `"full"`, `"deny"`), "fail exec 16"},
		"loops":             {config(t, "enabled: true", "enabled: false"), "warn loop_detection 17"},
		"default model": {config(t, `"gpt-oss-executor/gpt-oss"`, `{ primary: "openai/gpt" }`),
			"warn default_model 13"},
		"subagents":            {config(t, "defaults: {", `defaults: { subagents: { model: { primary: "openai/x" } },`), "warn subagent_model 13"},
		"subagents, fine":      {config(t, "defaults: {", `defaults: { subagents: { model: "gpt-oss-executor/gpt-oss" },`), ""},
		"allowed models":       {config(t, "defaults: {", `defaults: { modelPolicy: { allow: ["openai/*"] },`), "fail model_policy 13"},
		"allowed models, fine": {config(t, "defaults: {", `defaults: { modelPolicy: { allow: ["gpt-oss-executor/*"] },`), ""},
		"an agent": {config(t, "agents: {", `agents: { entries: { a: { model: "x/y",
			tools: { exec: { ask: "off" }, loopDetection: { enabled: false } } } },`), "warn default_model 13, fail exec 14, warn loop_detection 14"},
		"an agent's half": {config(t, "agents: {", `agents: { entries: { a: { tools: { exec: { security: "allowlist" } } } },`), "warn exec 13, warn exec_pair 13"},
		"include":         {config(t, "agents: {", `agents: { $include: "./a.json5",`), "warn include 13"},
	} {
		list := Check([]byte(c.text), side)
		if got := strings.Join(worst(list), ", "); got != c.want {
			t.Errorf("%s: %s, want %s\n%v", name, got, c.want, list)
		}
		for _, f := range list {
			if f.Found == "" || (f.Fix == "") != (f.Status == OK) || bare.MatchString(f.Fix) &&
				f.Name != "config" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	blind := side
	blind.Guessed = true
	if got := worst(Check([]byte(config(t)), blind)); got != nil {
		t.Errorf("without the window: %v", got)
	}
	if got := Worst(Check([]byte(config(t)), Sidecar{})); got != Fail {
		t.Errorf("with a sidecar of which nothing is known: %s", got)
	}
	side := side
	side.Key = "k"
	if got := worst(Check([]byte(config(t)), side)); !slices.Equal(got, []string{"fail api_key 2"}) {
		t.Errorf("without the key: %v", got)
	}
}

// Where OpenClaw takes no security and ask any more, a mode says what they have said, or the next stricter.
func TestMergeExecMode(t *testing.T) {
	s := side
	s.ExecMode = true
	for was, want := range map[string]string{
		`security: "full", ask: "on-miss"`:        `mode: "ask"`,
		`security: "full", ask: "off" /* yolo */`: `mode: "ask"`,
		`security: "allowlist", ask: "off"`:       `mode: "allowlist"`,
		`security: "allowlist", ask: "on-miss"`:   `mode: "ask"`,
		`security: "allowlist", ask: "always"`:    `mode: "ask"`,
		`security: "deny", ask: "off"`:            `mode: "deny"`,
		`ask: "on-miss"`:                          `mode: "ask"`,
		`mode: "auto"`:                            `mode: "auto"`,
		`mode: "full"`:                            `mode: "ask"`,
		`host: "gateway"`:                         `mode: "ask"`,
	} {
		got, err := Merge([]byte(config(t, `security: "full", ask: "on-miss"`, was)), s)
		if err != nil {
			t.Fatal(err)
		}
		root, err := jsonc.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		exec := root.At("tools", "exec")
		if mode := "mode: " + string(got[exec.Get("mode").Start:exec.Get("mode").End]); mode != want ||
			exec.Get("security") != nil || exec.Get("ask") != nil {
			t.Errorf("%s becomes %s, want %s", was, got[exec.Start:exec.End], want)
		}
	}
}

// What can be mended without an opinion is; what is stricter, or as good, stays.
func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		left string   // findings
		has  []string // in the text
	}{
		"fine":            {config(t), "", []string{"localhost", `{ model: "gpt-oss-executor/gpt-oss" }`}},
		"a model by name": {config(t, `"gpt-oss-executor/gpt-oss"`, `"openai/gpt" /* was good */`), "", []string{`"gpt-oss-executor/gpt-oss" /* was good */`}},
		"its own values": {config(t, "timeoutSeconds: 900", "timeoutSeconds: 1800 /* slow */",
			`name: "gpt-oss"`, `name: "Ours"`), "", []string{"1800 /* slow */", `"Ours"`}},
		"another model": {config(t, `id: "gpt-oss"`, `id: "gpt-oss-20b"`), "", []string{`id: "gpt-oss-20b"`,
			`id: "gpt-oss",`}},
		"bad values": {config(t, "65536", "131072", "reasoning: true", "reasoning: false", `"max_tokens"`, `"max_completion_tokens"`,
			"compat: {", "compat: { strictMessageKeys: true,", `{ mode: "directory" }`, `true`, "timeoutSeconds: 900", "timeoutSeconds: 30"), "", []string{"strictMessageKeys: false"}},
		"exec mode": {config(t, `security: "full", ask: "on-miss"`, `mode: "full" /* yolo */`), "",
			[]string{"/* yolo */", `security: "full"`}},
		"exec, stricter": {config(t, `security: "full", ask: "on-miss"`, `mode: "allowlist"`), "warn exec", []string{`exec: { mode: "allowlist" }`}},
		"exec, always":   {config(t, `"on-miss"`, `"always"`), "", []string{`"always"`}},
		"loops off": {config(t, "enabled: true", "enabled: false"), "warn loop_detection",
			[]string{"enabled: false"}},
		"all tools": {config(t, `{ mode: "directory" }`, "false"), "warn tool_search",
			[]string{"toolSearch: false"}},
		"catalogue":       {config(t, "models: { prov", `models: { mode: "replace", prov`), "", []string{`mode: "replace"`}},
		"another default": {config(t, `"gpt-oss-executor/gpt-oss"`, `{ primary: "openai/gpt", fallbacks: ["a/b"] }`), "", []string{`{ primary: "gpt-oss-executor/gpt-oss", fallbacks: ["a/b"] }`}},
		"allowed models":  {config(t, "defaults: {", `defaults: { modelPolicy: { allow: ["openai/*"] },`), "", []string{`["openai/*", "gpt-oss-executor/*"]`}},
		"another of ours": {config(t, `"gpt-oss-executor/gpt-oss"`, `"gpt-oss-executor/gpt-oss-20b"`, `id: "gpt-oss"`, `id: "gpt-oss-20b"`), "", []string{`model: "gpt-oss-executor/gpt-oss"`}},
		"more tokens":     {config(t, "8192", "16384"), "", []string{"16384"}},
		"too many tokens": {config(t, "8192", "50000"), "", []string{"8192"}},
		"another API": {config(t, "openai-completions", "openai-responses"), "",
			[]string{"openai-responses", "sendSessionIdHeader: true"}},
		"elsewhere": {"// mine\n{ gateway: { port: 1 } }\n", "", []string{"// mine\n{ gateway: { port: 1 }"}},
	} {
		got, err := Merge([]byte(quoted(c.text)), side)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var left []string
		for _, f := range Check(got, side) {
			if f.Status != OK {
				left = append(left, string(f.Status)+" "+f.Name)
			}
		}
		if left := strings.Join(left, ", "); left != c.left {
			t.Errorf("%s: %s is left, want %s in\n%s", name, left, c.left, got)
		}
		for _, has := range c.has {
			if !strings.Contains(string(got), quoted(has)) {
				t.Errorf("%s: no %q in\n%s", name, has, got)
			}
		}
	}
}

// A window that nobody has told does not replace one that somebody wrote.
func TestMergeOfAGuess(t *testing.T) {
	s := side
	s.Window, s.Guessed = 131072, true
	got, err := Merge([]byte(config(t)), s)
	if err != nil || !strings.Contains(string(got), `"contextWindow": 65536`) {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = Merge([]byte("{}"), s); err != nil || !strings.Contains(string(got), "131072") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestStart(t *testing.T) {
	environ := []string{"GPTOSS_EXECUTOR_UPSTREAM_KEY=k", "GPTOSS_EXECUTOR_TOKEN=file:/t",
		"GPTOSS_EXECUTOR_RULES=/r/${a}", "GPTOSS_EXECUTOR_LISTEN=l", "GPTOSS_EXECUTOR_UPSTREAM=u",
		"OPENCLAW_WORKSPACE="}
	s := Service{Listen: Listen(side.URL), Upstream: "http://m/v1"}
	s.Start("/bin/x", 5, environ, func(name string) bool { return name != "GPTOSS_EXECUTOR_RULES" })
	want := Service{Command: "/bin/x", Listen: "127.0.0.1:8001", Upstream: "http://m/v1", Idle: 5,
		Env: jsonc.Make("GPTOSS_EXECUTOR_RULES", "/r/$${a}", "GPTOSS_EXECUTOR_TOKEN", "file:/t",
			"GPTOSS_EXECUTOR_UPSTREAM_KEY", "${GPTOSS_EXECUTOR_UPSTREAM_KEY}")}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	for _, base := range []string{"http://gpu.lan:8001/v1", "https://127.0.0.1:8001/v1",
		"http://127.0.0.1/v1", ":"} {
		if Listen(base) != "" {
			t.Errorf("%s is here", base)
		}
	}
}

// A base URL is one that OpenClaw can ask, or it is said what is wrong with it.
func TestBase(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8001/v1": "http://127.0.0.1:8001/v1",
		"http://gpu.lan:8001/v1/":  "http://gpu.lan:8001/v1", "https://gpu.lan": "https://gpu.lan/v1",
		"http://[::1]:8001/": "http://[::1]:8001/v1", "http://a/b": "http://a/b/v1",
		"127.0.0.1:8001": "", "gpu.lan:8001/v1": "", "ftp://gpu.lan/v1": "", "http://": "", "http:///v1": "",
		"http://:8001/v1": "", "http://a/v1?x=1": "", "http://a/v1#x": "", "http://u:hunter2@a/v1": "",
		"http://a b/v1": "", "": "",
	} {
		got, err := Base(text)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(),
			"hunter2") {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// Where the gateway starts the sidecar, a further merge renews what is ours, by name.
func TestRenew(t *testing.T) {
	service := func(args, env, url string) string {
		return config(t, "8001/v1", url+"/v1", "api:", `localService: { command: "/x", args: ["serve"`+args+
			`], env: { A: "b"`+env+` }, healthUrl: "http://127.0.0.1:`+url+
			`/healthz", readyTimeoutMs: 30000 }, api:`)
	}
	const ours = `, "--listen", "127.0.0.1:8001", "--upstream", "http://m/v1", "--with-parent"`
	start := func(s *Service) *Service {
		s.Command, s.Env = "/x", jsonc.Make("GPTOSS_EXECUTOR_STATE", "/s")
		return s
	}
	here := func() *Service { return &Service{Listen: "127.0.0.1:8001", Upstream: "http://m/v1"} }
	guessed := func() *Service {
		return &Service{Listen: "127.0.0.1:8001", Upstream: "http://usual/v1", Guessed: true}
	}
	for name, c := range map[string]struct {
		s          *Service
		text, want string
	}{
		"as it is": {here(), service(ours, "", "8001"), service(ours, "", "8001")},
		"another upstream": {here(), service(`, "--upstream", "http://old/v1"`, "", "8001"),
			service(`, "--upstream", "http://m/v1"`, "", "8001")},
		"of an upstream": {here(), service(`, "--upstream=http://old/v1", "--upstream=x"`, "", "8001"),
			service(`, "--upstream=http://old/v1", "--upstream=http://m/v1"`, "", "8001")},
		"nobody said it": {guessed(), service(ours, "", "8001"), service(ours, "", "8001")},
		"another address": {here(), service(`, "--listen", "127.0.0.1:9", "--confine", "here"`, "", "9"),
			strings.Replace(service(`, "--listen", "127.0.0.1:8001", "--confine", "here"`, "", "8001"),
				"localhost", "127.0.0.1", 1)},
		"for all": {here(), service(`, "--listen", "0.0.0.0:8001"`, "", "8001"),
			service(`, "--listen", "0.0.0.0:8001"`, "", "8001")},
		"a config of its own": {here(), service(`, "--config", "c.yaml"`, "", "8001"),
			service(`, "--config", "c.yaml"`, "", "8001")},
		"variables are theirs": {here(), service(ours, `, GPTOSS_EXECUTOR_STATE: "/old"`, "8001"), service(ours, `, GPTOSS_EXECUTOR_STATE: "/old"`, "8001")},
		"started anew": {start(here()), service(`, "--confine", "here"`,
			`, GPTOSS_EXECUTOR_STATE: "/old", GPTOSS_EXECUTOR_RULES: "/r"`, "8001"),
			service(`, "--confine", "here"`+ours, `, GPTOSS_EXECUTOR_STATE: "/s"`, "8001")},
		"not with its parent": {start(here()), service(`, "--with-parent=off"`, ``, "8001"),
			service(`, "--with-parent=off", "--listen", "127.0.0.1:8001", "--upstream", "http://m/v1"`,
				`, GPTOSS_EXECUTOR_STATE: "/s"`, "8001")},
		"another program": {here(), config(t, "api:", `localService: { command: "/x", args: ["y", "--listen", "127.0.0.1:9"] }, api:`), config(t, "api:", `localService: { command: "/x", args: ["y", "--listen", "127.0.0.1:9"] }, api:`)},
		"none":            {here(), config(t), config(t)},
	} {
		s := side
		want, err := Merge([]byte(c.want), s)
		ruletest.Must(t, err)
		s.Service = c.s
		if got, err := Merge([]byte(c.text), s); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(string(want), string(got)))
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":`:               "1:6: parsing value: unexpected EOF; mend it by hand",
		"{\n  models: {}}":    "2:3: the name models stands without quotes, as JSON5 alone has it; write \"models\"; mend it by hand, or let OpenClaw write",
		"[]":                  "1:1: the config is a list",
		`{ "models": 3 }`:     "", // replaced: OpenClaw itself refuses it
		`{"$include": "./a"}`: "1:14: models",
		"{\n \"agents\": { \"$include\": [\"./agents.json5\"] } }": "2:26: agents.defaults",
		`{"models": {"providers": []}}`:                            "",
	} {
		got, err := Merge([]byte(text), side)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s; %s", text, err, want, got)
		}
	}
}

// FuzzMerge holds that a merge keeps every comment and all that is not ours, and that a second
// one changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add(config(&testing.T{}), true)
	f.Add("{\n  // mine\n  \"gateway\": { \"port\": 1 }, /* x */\n  \"models\": { \"providers\": {} }\n}",
		false)
	f.Add(quoted(`{agents:{defaults:{model:"a/b",modelPolicy:{allow:["a/*"]}}},tools:{exec:{mode:"full"},toolSearch:true}}`), true)
	f.Add(quoted(`{models:{providers:{"gpt-oss-executor":{models:[{id:"gpt-oss",compat:{strictMessageKeys:true}},{id:"x"}]}}}}`), false)
	f.Fuzz(func(t *testing.T, text string, service bool) { mergeKeeps(t, text, service) })
}

// TestMergeKeeps holds the same for made-up configs, which have what we set in many forms, and
// comments wherever there may be one.
func TestMergeKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t}
		w.value(0)
		mergeKeeps(t, w.text.String(), rapid.Bool().Draw(t, "service"))
	})
}

// writer writes a config with gaps of any kind.
type writer struct {
	t    *rapid.T
	text strings.Builder
	n    int
}

func (w *writer) gap() {
	w.n++
	w.text.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\n  ", "\r\n",
		fmt.Sprintf("/* %d\n */", w.n), fmt.Sprintf(" // %d { \" '\n", w.n),
		fmt.Sprintf("//%d\r\n", w.n)}).Draw(w.t, "gap"))
}

func (w *writer) value(depth int) {
	w.gap()
	kind := rapid.IntRange(0, 3).Draw(w.t, "kind")
	if depth == 0 {
		kind = 3
	} else if depth > 5 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		w.text.WriteString(rapid.SampledFrom([]string{"1", "true", "false", "null", `"full"`, `"gpt-oss"`,
			`"gpt-oss-executor/gpt-oss"`, `"a/*"`, "900", "-1.5e3", `"serve"`, `"--listen"`,
			`"--upstream=x"`}).Draw(w.t, "word"))
	case 2:
		w.list("[]", depth, func() {})
	case 3:
		w.list("{}", depth, func() {
			w.text.WriteString(`"` + rapid.SampledFrom([]string{"models", "providers", "gpt-oss-executor",
				"agents", "defaults", "model", "primary", "tools", "toolSearch", "exec", "mode", "security",
				"ask", "enabled", "compat", "id", "strictMessageKeys", "modelPolicy", "allow", "args", "env",
				"healthUrl", "localService", "GPTOSS_EXECUTOR_STATE", "$x", `\u0061sk`}).Draw(w.t, "name") +
				`"`)
			w.gap()
			w.text.WriteString(":")
		})
	}
	w.gap()
}

func (w *writer) list(ends string, depth int, name func()) {
	w.text.WriteString(ends[:1])
	n := rapid.IntRange(0, 3).Draw(w.t, "n")
	for i := range n {
		w.gap()
		name()
		w.value(depth + 1)
		if i < n-1 || rapid.Bool().Draw(w.t, "comma") {
			w.text.WriteString(",")
		}
	}
	w.gap()
	w.text.WriteString(ends[1:])
}

// comments are those of a text.
func comments(text string) []string {
	tokens := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|//[^\n]*|(?s:/\*.*?\*/)`).FindAllString(strings.ReplaceAll(text, "\r\n", "\n"), -1)
	return slices.Sorted(slices.Values(slices.DeleteFunc(tokens, func(s string) bool { return s[0] == '"' })))
}

// mergeKeeps is what holds for every text.
func mergeKeeps(t interface{ Fatalf(string, ...any) }, text string, service bool) {
	s := side
	if service {
		s.Service = &Service{Command: "/x", Listen: "127.0.0.1:8001", Upstream: "u"}
	}
	was, err := jsonc.Parse([]byte(text))
	got, mergeErr := Merge([]byte(text), s)
	if mergeErr != nil {
		return
	}
	if err != nil {
		t.Fatalf("%q cannot be read, and became %q", text, got)
	}
	is, err := jsonc.Parse(got)
	if err != nil {
		t.Fatalf("%q became %q: %v", text, got, err)
	}
	if before, after := comments(text), comments(string(got)); !slices.Equal(before, after) {
		t.Fatalf("%q became %q: comments %q became %q", text, got, before, after)
	}
	for _, m := range was.Members {
		if new := is.Get(m.Key); new == nil || m.Key != "models" && m.Key != "agents" && m.Key != "tools" &&
			string(got[new.Start:new.End]) != text[was.Get(m.Key).Start:was.Get(m.Key).End] {
			t.Fatalf("%q became %q: %s is another", text, got, m.Key)
		}
	}
	again, err := Merge(got, s)
	if err != nil || string(again) != string(got) {
		t.Fatalf("%q became %q, and then %q: %v", text, got, again, err)
	}
	for _, f := range Check([]byte(text), s) {
		if f.Line < 1 || f.Line > strings.Count(text, "\n")+1 {
			t.Fatalf("%q has no such line: %+v", text, f)
		}
	}
}
