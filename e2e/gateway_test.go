package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// TestGateway runs turns of a real OpenClaw gateway through the sidecar, over each API that
// it can speak.
func TestGateway(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			overAPI(t, api)
		})
	}
}

// TestTogether: what needs no settings of its own shares one gateway, because it takes long to start.
func TestTogether(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	b := &bench{run: gatewayRun(t), servers: map[string]*script.Server{}}
	// the first is the default of subagents
	steered, silent, several, examined := b.steer(t), b.silence(t), b.severalServers(t), b.doctor(t)
	b.start(t)
	t.Run("silence", silent) // while nothing else keeps the gateway busy
	t.Run("others", func(t *testing.T) {
		for name, play := range map[string]func(t *testing.T){"steer": steered, "several servers": several,
			"doctor": examined} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				play(t)
			})
		}
	})
}

// apis are those that the gateway can speak to us.
var apis = []string{"openai-completions", "openai-responses"}

// overAPI runs all turns over one API. All parts share one gateway, because it takes long to
// start; each has providers of its own.
func overAPI(t *testing.T, api string) {
	b := &bench{api: api, run: gatewayRun(t), servers: map[string]*script.Server{}}
	b.add(t, "vllm", script.VLLM(), damageScenarios("vllm"), thoughtScenarios(), endScenario(),
		quotedScenarios(), subagentScenarios())
	b.add(t, "ollama", servers.Ollama(), damageScenarios("ollama"), thoughtScenarios())
	b.add(t, "llamacpp", servers.LlamaCPP(), thoughtScenarios())
	b.add(t, "sglang", servers.SGLang(), thoughtScenarios())
	b.add(t, "broken", script.VLLM(), brokenScenarios())
	b.add(t, guarded, script.VLLM(), policyScenarios(guarded))
	b.add(t, open, script.VLLM(), policyScenarios(open))
	b.admin = testkit.Address(t)
	b.add(t, tried, script.VLLM(), []script.Scenario{servers.Prompted(shortPrompt)})
	_, lost := runSidecar(t, "/healthz", "http://"+testkit.Address(t), b.sidecar(t, away)...)
	b.providers = append(b.providers, provider{id: away, url: lost, api: api})
	b.servers[bare] = script.New(append(policyScenarios(bare), bareScenario())...)
	b.providers = append(b.providers, provider{id: bare, url: startModel(t, b.servers[bare])})
	b.start(t)

	t.Run("without the sidecar", b.bare)
	t.Run("damaged calls", b.damagedCalls)
	t.Run("quotations", b.quoted)
	t.Run("reasoning replay", b.reasoningReplay)
	t.Run("broken upstream", b.brokenUpstream)
	t.Run("hopeless upstream", b.hopelessUpstream)
	t.Run("subagents", b.subagents)
	t.Run("policy", b.policy)
	t.Run("experiment", b.experiment)
}

// bench is a gateway with one sidecar and one model for each provider.
type bench struct {
	api       string // that the gateway speaks
	run       string // the gateway's folder
	gateway   *gateway
	providers []provider
	servers   map[string]*script.Server // by provider
	admin     string                    // of the sidecar with an experiment
	hasty     []string                  // providers for which the gateway waits for 4 s at most
}

// start starts the gateway.
func (b *bench) start(t *testing.T) {
	t.Helper()
	waits := map[string]any{}
	for _, id := range b.hasty {
		waits[id] = map[string]any{"timeoutSeconds": 4}
	}
	more, err := json.Marshal(map[string]any{"models": map[string]any{"providers": waits}})
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "more.json")
	write(t, settings, string(more))
	b.gateway = startGateway(t, b.run, []string{"OC_MORE=" + settings}, b.providers...)
}

func (b *bench) add(t *testing.T, id string, d script.Dialect, scenarios ...[]script.Scenario) {
	t.Helper()
	s := script.New(slices.Concat(scenarios...)...)
	s.Dialect = d
	b.servers[id] = s
	b.providers = append(b.providers, provider{id, startSidecar(t, startModel(t, s), b.sidecar(t, id)...),
		b.api})
}

// sidecar is how a provider's sidecar is started: for the agent of the gateway.
func (b *bench) sidecar(t *testing.T, id string) (env []string) {
	home, ws := gatewayFolders(b.run)
	env = []string{"HOME=" + home, "OPENCLAW_WORKSPACE=" + ws}
	switch id {
	case open:
		env = append(env, "GPTOSS_EXECUTOR_RULES="+dryRun(t))
	case tried:
		env = append(env, "GPTOSS_EXECUTOR_RULES="+trying(t), "GPTOSS_EXECUTOR_ADMIN="+b.admin)
	}
	return env
}

// say runs a turn that picks a scenario, in a session of the given name.
func (b *bench) say(t *testing.T, provider, session, scenario string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := b.gateway.turn(ctx, provider, session, "Please do: "+scenario)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// user is the text of a user message that picks a scenario.
func user(scenario string) string { return "do: " + scenario }

func bareScenario() script.Scenario {
	return script.Scenario{Name: "bare", Steps: []script.Reply{
		script.LeakedHarmony("exec", `{"command":"echo ran > bare.txt"}`),
		script.Text("Never asked for."),
	}}
}

// bare is the control: OpenClaw by itself takes a leaked call for text. If this
// fails, the gateway has learnt what the sidecar is for, and the other parts
// prove less than they say.
func (b *bench) bare(t *testing.T) {
	a := b.say(t, bare, "bare", "bare")
	if n := len(b.servers[bare].Requests("bare")); n != 1 || exists(b.gateway.dir, "bare.txt") {
		t.Errorf("the gateway ran a leaked call by itself: %d requests, answer %q", n, a.text)
	}
	t.Log("what the user sees without the sidecar: " + fmt.Sprintf("%q", a.text))
}
