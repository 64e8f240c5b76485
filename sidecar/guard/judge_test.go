package guard_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// OpenClaw's exec as far as it matters here, and its way to call a tool that is not
// offered.
const (
	askTool     = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","required":["command"],"properties":{"command":{"type":"string"},"workdir":{"type":"string"},"ask":{"type":"string"}}}}}`
	carryTool   = `{"type":"function","function":{"name":"tool_call","parameters":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"args":{"type":"object"}}}}}`
	gatewayTool = `"tools":[` + askTool + `,` + provider.ReadTool + `,` + carryTool + `]`
)

// policies are sets by their exec.yaml: many tests have the same, and nothing changes one.
var policies sync.Map

// policyOf is the shipped set with another exec.yaml, and without the rules about paths
// and URLs.
func policyOf(t testing.TB, exec string) *ruleset.Set {
	t.Helper()
	if set, ok := policies.Load(exec); ok {
		return set.(*ruleset.Set)
	}
	builtin, err := rulefile.Builtin(os.DirFS(testkit.Root()))
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(builtin)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "tests/") })
	files["exec.yaml"] = "version: 1\n" + exec
	files["paths.yaml"], files["urls.yaml"] = "version: 1\nroots: {workspace: /srv/project}\n", "version: 1\n"
	set, problems := provider.Loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	policies.Store(exec, set)
	return set
}

// under is a sidecar with this exec.yaml in front of a model that replies this.
func under(t testing.TB, exec string, replies ...script.Reply) *provider.Server {
	return provider.Start(t, provider.Setup{Set: policyOf(t, exec)}, script.New(script.Scenario{Steps: replies}))
}

const asksDeploy = `
profile: permissive
rules:
  - id: deploy
    ask: Somebody should know.
    when: command contains 'deploy' or args.path == 'deploy.txt'
`

// saysWhy is what a person reads behind the command.
const saysWhy = "  # gpt-oss-executor asks: Somebody should know. (rule deploy)"

// What asks leaves as the call it was, with the argument that makes the gateway ask and
// the reason; however it was written, streamed or not, in any choice.
func TestAskLeaves(t *testing.T) {
	const args, asks = `{"command":"deploy \u002dx", "ask":"off"}`, `{"command":"deploy \u002dx` + saysWhy +
		`", "ask":"always"}`
	plain, asksPlain := `{"command":"deploy", "workdir":"/srv"}`, `{"ask":"always","command":"deploy`+saysWhy+
		`", "workdir":"/srv"}`
	for name, c := range map[string]struct {
		reply script.Reply
		want  string
	}{
		"native":       {script.Native("exec", args), asks},
		"not said yet": {script.Native("exec", plain), asksPlain},
		"twice": {script.Native("exec", `{"ask":"off","command":"deploy","ask":"off"}`),
			`{"ask":"always","command":"deploy` + saysWhy + `","ask":"always"}`},
		"leaked":    {script.LeakedHarmony("exec", args), asks},
		"stripped":  {script.StrippedHarmony("exec", args), asks},
		"reasoning": {script.InReasoning("exec", args), asks},
		"guided":    {script.GuidedJSON("exec", args), asks},
		"fence":     {script.FencedJSON("exec", args), asks},
		"lines":     {script.ReAct("exec", args), asks},
		"block": {script.Text("<tool_call>{\"name\":\"exec\",\"arguments\":" + args + "}</tool_call>"),
			asks},
		"carried": {script.Native("tool_call", `{"id":"exec","args":`+args+`}`),
			`{"id":"exec","args":` + asks + `}`},
		"a document": {script.Reply{Body: document(calling("exec", args))}, asks},
	} {
		for _, mode := range []string{gatewayTool, provider.Streaming + "," + gatewayTool} {
			r := under(t, asksDeploy, c.reply)
			a := r.Chat(provider.Body(mode))
			if len(a.Calls) != 1 || a.Calls[0].Args != c.want || a.Last != "tool_calls" {
				t.Errorf("%s: %v\n%s", name, a.Calls, a.Body)
			}
			if log := r.Log.String(); !strings.Contains(log, "event=policy_ask") ||
				!strings.Contains(log, "rule=deploy") {
				t.Errorf("%s: not in the log: %s", name, log)
			}
		}
	}
	r := under(t, asksDeploy, script.Reply{Body: document(calling("exec", `{"command":"ls"}`),
		calling("exec", args))})
	if a := r.Chat(provider.Body(`"n":2,` + gatewayTool)); strings.Count(a.Body, `\"always\"`) != 1 ||
		len(a.Calls) != 1 || a.Calls[0].Args != `{"command":"ls"}` {
		t.Errorf("in the second choice: %s", a.Body)
	}
}

// Where the gateway cannot ask, a person is asked here, and their yes lets exactly this
// call pass once.
func TestAskHere(t *testing.T) {
	deploy := script.Native("exec", `{"command":"deploy"}`)
	for name, c := range map[string]struct {
		exec  string
		tools string
		reply script.Reply
		other script.Reply // which nobody has allowed
	}{
		"a tool without the argument": {asksDeploy, gatewayTool, script.Native("read", `{"path":"deploy.txt"}`), script.Native("read", `{"path":"deploy.txt","x":1}`)},
		"carried": {asksDeploy, gatewayTool,
			script.Native("tool_call", `{"id":"read","args":{"path":"deploy.txt"}}`),
			script.Native("read", `{"path":"deploy.txt"}`)},
		"a schema without it": {asksDeploy, provider.BothTools, deploy,
			script.Native("exec", `{"command":"deploy","timeout":2}`)},
		"no plain command": {asksDeploy, gatewayTool,
			script.Native("exec", `{"command":"cd a && deploy"}`),
			script.Native("exec", `{"command":"cd b && deploy"}`)},
		"as the rules have it": {"asks: sidecar" + asksDeploy, gatewayTool, deploy,
			script.Native("exec", `{"command":"deploy all"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []string{c.tools, provider.Streaming + "," + c.tools} {
				wait := script.Text("I shall wait.")
				r := under(t, c.exec, c.reply, wait, c.reply, c.other, wait, c.reply, wait)
				held := func(step string) {
					t.Helper()
					if a := r.Chat(provider.Body(mode)); len(a.Calls) != 0 || a.Text != "I shall wait." {
						t.Fatalf("%s: %v %q", step, a.Calls, a.Text)
					}
				}
				held("before")
				list, _, _ := r.Guard.Approvals.List()
				if len(list) != 1 || list[0].Call.Tool != c.reply.Calls[0].Name ||
					list[0].Reason.Rule != "deploy" {
					t.Fatalf("%+v", list)
				}
				asked := r.Model.Requests("")
				if told := string(asked[len(asked)-1].Body); !strings.Contains(told, list[0].ID) ||
					!strings.Contains(told, "Somebody should know.") {
					t.Errorf("the model reads %s", told)
				}
				if _, err := r.Guard.Approvals.Allow(list[0].ID, "ada"); err != nil {
					t.Fatal(err)
				}
				if a := r.Chat(provider.Body(mode)); len(a.Calls) != 1 ||
					a.Calls[0].Args != c.reply.Calls[0].Arguments {
					t.Errorf("allowed: %v", a.Calls)
				}
				held("another call")
				held("once more")
			}
		})
	}
}

// A person's no is told, with their words, and to the user if the model insists.
func TestAskDenied(t *testing.T) {
	deploy := script.Native("exec", `{"command":"deploy"}`)
	r := under(t, "asks: sidecar"+asksDeploy, deploy, script.Text("Well."), deploy, deploy)
	r.Chat(provider.Body(gatewayTool))
	list, _, _ := r.Guard.Approvals.List()
	if _, err := r.Guard.Approvals.Deny(list[0].ID, "ada", "not on a Friday"); err != nil {
		t.Fatal(err)
	}
	if a := r.Chat(provider.Body(gatewayTool)); len(a.Calls) != 0 || !strings.Contains(a.Text, "not on a Friday") {
		t.Errorf("%v %q", a.Calls, a.Text)
	}
}

// Where no person can be asked, the model is told so.
func TestAskNobody(t *testing.T) {
	r := under(t, "asks: sidecar"+asksDeploy, script.Native("exec", `{"command":"deploy"}`),
		script.Text("Well."))
	r.Guard.Approvals = nil
	if a := r.Chat(provider.Body(gatewayTool)); len(a.Calls) != 0 || a.Text != "Well." {
		t.Errorf("%v %q", a.Calls, a.Text)
	}
	asked := r.Model.Requests("")
	if told := string(asked[len(asked)-1].Body); !strings.Contains(told, "no person can be asked here") {
		t.Errorf("the model reads %s", told)
	}
}

// If a person can be asked by the gateway only, the model is told how: in plain commands.
func TestAskInPlainCommands(t *testing.T) {
	r := under(t, asksDeploy, script.Native("exec", `{"command":"cd a && deploy"}`),
		script.Native("exec", `{"command":"deploy","workdir":"a"}`))
	r.Guard.Approvals = nil
	if a := r.Chat(provider.Body(gatewayTool)); len(a.Calls) != 1 ||
		a.Calls[0].Args != `{"ask":"always","command":"deploy`+saysWhy+`","workdir":"a"}` {
		t.Errorf("%v %q", a.Calls, a.Text)
	}
	asked := r.Model.Requests("")
	told := string(asked[len(asked)-1].Body)
	for _, want := range []string{"Somebody should know.",
		"it changes the folder first. Leave cd out, and name the folder in workdir."} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in what the model reads: %s", want, told)
		}
	}
}

// answered is the request that follows a call with its result.
func answered(c provider.Call, result string) string {
	args, _ := json.Marshal(c.Args)
	return fmt.Sprintf(`{%s,"model":"gpt-oss","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"exec","arguments":%s}}]},{"role":"tool","tool_call_id":%q,"content":"%s"}]}`,
		gatewayTool, c.ID, args, c.ID, result)
}

// The model reads its own call again, and why a person was asked about it; also from a
// sidecar that has just started.
func TestAskIsTakenBack(t *testing.T) {
	deploy := script.Native("exec", `{"command":"deploy"}`)
	call := under(t, asksDeploy, deploy).Chat(provider.Body(gatewayTool)).Calls[0]
	r := under(t, asksDeploy, script.Text("Well."))
	r.Chat(answered(call, `Exec denied (approval_required)`))
	told := string(r.Model.Requests("")[0].Body)
	if strings.Contains(told, "always") || !strings.Contains(told, `"arguments":"{\"command\":\"deploy\"}"`) {
		t.Errorf("the model reads %s", told)
	}
	if !strings.Contains(told,
		`Exec denied (approval_required)\n\nA person had to allow this call first: Somebody should know. (rule deploy) If they did not`) {
		t.Errorf("the model reads %s", told)
	}
}

// A gateway that runs at once what it was to ask about is not trusted with the next one.
func TestGatewayThatDoesNotAsk(t *testing.T) {
	deploy := script.Native("exec", `{"command":"deploy"}`)
	for result, heard := range map[string]bool{"(no output)": false, "deployed": true,
		`{\"error\":\"exec denied: nobody is there\"}`: true} {
		r := under(t, asksDeploy, deploy, deploy, script.Text("I shall wait."))
		first := r.Chat(provider.Body(gatewayTool)).Calls
		if len(first) != 1 {
			t.Fatal(first)
		}
		a := r.Chat(answered(first[0], result))
		if left := len(a.Calls) == 1; left != heard {
			t.Errorf("%s: %v %q", result, a.Calls, a.Text)
		}
		if told := strings.Contains(r.Log.String(), "gateway_does_not_ask"); told == heard {
			t.Errorf("%s: in the log: %v", result, told)
		}
	}
}

// Who asks is what the gateway says, and what a session did before counts.
func TestSubjectAndRates(t *testing.T) {
	const rules = `
profile: permissive
rules:
  - id: guests
    deny: Guests look only.
    when: agent == 'guest' or channel == 'irc'
  - id: secret
    deny: Not that.
    when: command contains 'secret'
  - id: stubborn
    deny: This was tried too often.
    when: rate('denied', '10m') >= 2
`
	ls, secret, no := script.Native("exec", `{"command":"ls"}`), script.Native("exec",
		`{"command":"cat secret"}`), script.Text("No.")
	r := under(t, rules, ls, ls, no, ls, no, secret, no, secret, no, ls, no, ls)
	turn := func(agent, session, channel string) string {
		line := fmt.Sprintf(`Runtime: agent=%s | session=%s | channel=%s`, agent, session, channel)
		a := r.Chat(`{` + gatewayTool +
			`,"model":"gpt-oss","messages":[{"role":"user","content":"go\n\n` + line + `"}]}`)
		if len(a.Calls) > 0 {
			return a.Calls[0].Args
		}
		return a.Text
	}
	for i, c := range []struct{ agent, session, channel, want string }{
		{"main", "a", "webchat", `{"command":"ls"}`},
		{"guest", "b", "webchat", "No."},
		{"main", "c", "irc", "No."},
		{"main", "d", "", "No."},
		{"main", "d", "", "No."},
		{"main", "d", "", "No."}, // ls, now
		{"main", "a", "", `{"command":"ls"}`},
	} {
		if got := turn(c.agent, c.session, c.channel); got != c.want {
			t.Errorf("turn %d: %s", i, got)
		}
	}
	if log := r.Log.String(); !strings.Contains(log, "rule=stubborn") ||
		!strings.Contains(log, "session=d") || !strings.Contains(log, "agent=guest") {
		t.Error(log)
	}
}

// Without a Runtime line, the header tells sessions apart.
func TestSessionOfTheHeader(t *testing.T) {
	const rules = "profile: permissive\nrules: [{id: once, deny: Enough., when: \"rate('calls', '1h') >= 1\"}]\n"
	ls, no := script.Native("exec", `{"command":"ls"}`), script.Text("No.")
	r := under(t, rules, ls, ls, no, ls)
	for i, c := range []struct {
		session string
		calls   int
	}{{"u1:0", 1}, {"u1:0", 0}, {"u2:0", 1}} {
		if a := r.Chat(provider.Body(gatewayTool), "Session_id", c.session); len(a.Calls) != c.calls {
			t.Errorf("request %d: %v", i, a.Calls)
		}
	}
}

// Of a call that is not made the model reads what to do otherwise, and the person what was wanted, which rule
// said so, and what changes that. Neither reads what is for the other.
func TestTwoTexts(t *testing.T) {
	const forModel, forPerson = `Do not send it|in bytes \d+ to \d+|send exactly this call|Do it another way`, `gpt-oss-executor (approvals|policy)|--admin|can change it`
	for _, row := range []struct {
		name, exec, command string
		asked               bool // a person can be asked here
		tells               []string
	}{
		{"denied", "", "rm -rf /", true, []string{`"rm"`, "Rule whole-tree (exec.yaml:", "denies it", "change that rule", "policy explain"}},
		{"no person can be asked", "", "git push", false, []string{`exec with "git push"`, "Rule publish (exec.yaml:", "start gpt-oss-executor with --admin", "policy explain"}},
		{"a person can", "", "git push", true, []string{`exec with "git push"`, "To allow it once: gpt-oss-executor approvals allow "}},
		{"no rule speaks", "profile: developer\n", "frobnicate", false, []string{`"frobnicate"`, "policy profile permissive"}},
		{"a secret", "", "git push https://me:hunter2hunter2@example.org/x", false, []string{"exec with"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			wanted := script.Native("exec", fmt.Sprintf(`{"command":%q}`, row.command))
			cfg := provider.Setup{}
			if row.exec != "" {
				cfg.Set = policyOf(t, row.exec)
			}
			r := provider.Start(t, cfg, script.New(script.Scenario{Steps: []script.Reply{wanted, wanted}}))
			if !row.asked {
				r.Guard.Approvals = nil
			}
			a := r.Chat(provider.Body(provider.BothTools))
			asked := r.Model.Requests("")
			if len(a.Calls) > 0 || len(asked) != 2 {
				t.Fatalf("%+v, asked %d times", a.Calls, len(asked))
			}
			told := asked[1].Messages[len(asked[1].Messages)-1].Text
			if !regexp.MustCompile(forModel).MatchString(told) ||
				regexp.MustCompile(forPerson).MatchString(told) {
				t.Errorf("the model reads %q", told)
			}
			if regexp.MustCompile(forModel).MatchString(a.Text) || strings.Contains(a.Text, "hunter2") {
				t.Errorf("the person reads %q", a.Text)
			}
			for _, words := range row.tells {
				if !strings.Contains(a.Text, words) {
					t.Errorf("the person reads %q, without %q", a.Text, words)
				}
			}
		})
	}
}

// A command that a person has allowed is the same in other words of its description, and no other command is.
func TestAskInOtherWords(t *testing.T) {
	const tool = `"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"},"justification":{"type":"string"}},"required":["command"]}}}]`
	call := func(command, words string) script.Reply {
		return script.Native("exec", fmt.Sprintf(`{"command":%q,%s}`, command, words))
	}
	wait := script.Text("I shall wait.")
	r := under(t, "asks: sidecar"+asksDeploy, call("deploy", `"description":"Deploys it"`), wait,
		call("deploy all", `"description":"Deploys it"`), wait,
		call("deploy", `"description":"Bring it out","justification":"The user allows it"`))
	r.Chat(provider.Body(tool))
	list, _, _ := r.Guard.Approvals.List()
	if len(list) != 1 || !strings.Contains(list[0].Call.Arguments, "Deploys it") {
		t.Fatalf("%+v", list)
	}
	_, err := r.Guard.Approvals.Allow(list[0].ID, "ada")
	ruletest.Must(t, err)
	if a := r.Chat(provider.Body(tool)); len(a.Calls) != 0 {
		t.Errorf("another command: %+v", a.Calls)
	}
	if a := r.Chat(provider.Body(tool)); len(a.Calls) != 1 || !strings.Contains(a.Calls[0].Args, "Bring it out") {
		t.Errorf("in other words: %+v %q", a.Calls, a.Text)
	}
}
