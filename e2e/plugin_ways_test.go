package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// coder is the provider of a model that writes code in place of calls.
const coder = "coder"

// waysScenarios are turns of a model that calls exec by another tool, or in code.
func waysScenarios(t *testing.T, forbidden string) (list []script.Scenario) {
	t.Helper()
	for id, line := range map[string]string{"plain": "touch ", "denied": "touch " + forbidden + " ", "asked": ""} {
		for _, way := range []string{"wrapped", "coded"} {
			command := line + way
			if id == "asked" {
				command = appending(way + id)
			}
			step := script.Native("tool_call", `{"id":"exec","args":{"command":`+quoted(command)+`}}`)
			if way == "coded" {
				doc, err := json.Marshal(map[string]string{"code": "return await exec({command: " + quoted(command) + "})"})
				if err != nil {
					t.Fatal(err)
				}
				step = script.Native("exec", string(doc))
			}
			list = append(list, script.Scenario{Name: way + "-" + id, User: user(way + "-" + id), Steps: []script.Reply{step, script.Text("Done.")}, Loop: true})
		}
	}
	return list
}

// TestPluginWays: the policy of the plugin holds for calls that do not come under their own name, each is
// asked about once, and OpenClaw's own audit finds nothing about the plugin.
func TestPluginWays(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	run := gatewayRun(t)
	forbidden, _ := forbiddenFile(t, run)
	b := &bench{run: run, servers: map[string]*script.Server{}}
	for _, id := range []string{bare, coder} {
		b.servers[id] = script.New(waysScenarios(t, forbidden)...)
	}
	admin := "127.0.0.1:" + freePort(t)
	_, address := runSidecar(t, "/healthz", "http://127.0.0.1:9", append(b.sidecar(t, guarded), "GPTOSS_EXECUTOR_ADMIN="+admin, "GPTOSS_EXECUTOR_ADMIN_TOKEN=secret")...)
	settings := filepath.Join(t.TempDir(), "more.json")
	more, err := json.Marshal(map[string]any{
		"plugins": map[string]any{"enabled": true, "allow": []string{"gpt-oss-executor"}, "entries": map[string]any{
			"gpt-oss-executor": map[string]any{"enabled": true, "config": map[string]any{"url": address, "admin": "http://" + admin, "adminToken": "secret"}}}},
		"tools": map[string]any{"codeMode": map[string]any{"enabled": "auto", "executor": "quickjs"}},
		"models": map[string]any{"providers": map[string]any{coder: map[string]any{"models": []any{map[string]any{"id": "gpt-oss", "name": "gpt-oss", "reasoning": true, "input": []string{"text"},
			"contextWindow": 131072, "maxTokens": 8192, "compat": map[string]any{"codeMode": "preferred"}}}}}}})
	if err := errors.Join(err, os.WriteFile(settings, more, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.gateway = startGatewayWith(t, run, []string{"OC_MORE=" + settings, "OC_PLUGIN=npm-pack:" + packedPlugin(t), "GPT_OSS_EXECUTOR_API_KEY=none"},
		provider{id: bare, url: startModel(t, b.servers[bare])}, provider{id: coder, url: startModel(t, b.servers[coder])})
	for way, by := range map[string]string{"wrapped": bare, "coded": coder} {
		if r := b.pluginTurn(t, by, way+"-plain"); !b.marked(way) {
			t.Errorf("%s, what may run: the model reads %q", way, r)
		}
		if r := b.pluginTurn(t, by, way+"-denied"); exists("/", forbidden) || !strings.Contains(r, "This file later runs by itself, or controls the policy.") {
			t.Errorf("%s, what is denied: the model reads %q", way, r)
		}
	}
	if r := b.pluginTurn(t, coder, "coded-asked"); b.marked("codedasked") || !strings.Contains(r, "approval") {
		t.Errorf("where nobody is there: the model reads %q", r)
	}
	seen := b.gateway.chat(t, run, "chat-wrapped", "Please do: wrapped-asked", "allow-once", "button")
	if len(seen) != 2 || !strings.HasPrefix(seen[0].Asked, appending("wrappedasked")) || !b.marked("wrappedasked") {
		t.Errorf("the person sees %+v", seen)
	}
	audit := b.openclaw(t, "security", "audit", "--deep", "--json", "--token", b.gateway.token)
	if !strings.Contains(audit, `"critical": 0`) || strings.Contains(audit, "gpt-oss-executor") {
		t.Errorf("the audit says %s", audit)
	}
}
