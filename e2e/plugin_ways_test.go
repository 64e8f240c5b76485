package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// coder is the provider of a model that writes code in place of calls.
const coder = "coder"

// waysScenarios are turns of a model that calls exec by another tool, or in code.
func waysScenarios(t *testing.T, forbidden string) (list []script.Scenario) {
	t.Helper()
	for id, line := range map[string]string{"plain": "touch ", "denied": "touch " + forbidden + " ",
		"asked": ""} {
		for _, way := range []string{"wrapped", "coded"} {
			command := line + way
			if id == "asked" {
				command = appending(way + id)
			}
			step := script.Native("tool_call", `{"id":"exec","args":{"command":`+quoted(command)+`}}`)
			if way == "coded" {
				doc, err := json.Marshal(map[string]string{"code": "return await exec({command: " +
					quoted(command) + "})"})
				if err != nil {
					t.Fatal(err)
				}
				step = script.Native("exec", string(doc))
			}
			list = append(list, script.Scenario{Name: way + "-" + id, User: user(way + "-" + id),
				Steps: []script.Reply{step, script.Text("Done.")}, Loop: true})
		}
	}
	return list
}

// pluginWays: the policy of the plugin holds for calls that do not come under their own name, each is
// asked about once, and OpenClaw's own audit finds nothing about the plugin.
func (b *bench) pluginWays(t *testing.T, forbidden string) {
	for way, by := range map[string]string{"wrapped": bare, "coded": coder} {
		if r := b.pluginTurn(t, by, way+"-plain"); !b.marked(way) {
			t.Errorf("%s, what may run: the model reads %q", way, r)
		}
		if r := b.pluginTurn(t, by, way+"-denied"); exists("/", forbidden) ||
			!strings.Contains(r, "This file later runs by itself, or controls the policy.") {
			t.Errorf("%s, what is denied: the model reads %q", way, r)
		}
	}
	if r := b.pluginTurn(t, coder, "coded-asked"); b.marked("codedasked") ||
		!strings.Contains(r, "approval") {
		t.Errorf("where nobody is there: the model reads %q", r)
	}
	seen := b.gateway.chat(t, b.run, "chat-wrapped", "Please do: wrapped-asked", "allow-once", "button")
	if len(seen) != 2 || !strings.HasPrefix(seen[0].Asked, appending("wrappedasked")) ||
		!b.marked("wrappedasked") {
		t.Errorf("the person sees %+v", seen)
	}
	audit := b.openclaw(t, "security", "audit", "--deep", "--json", "--token", b.gateway.token)
	if !strings.Contains(audit, `"critical": 0`) || strings.Contains(audit, "gpt-oss-executor") {
		t.Errorf("the audit says %s", audit)
	}
}
