package service

import (
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// BuiltinRules is what people write for the built-in rules where a folder is asked
// for.
const BuiltinRules = "builtin"

// World is where the calls of a server are judged.
func World(s config.Settings, folders ...string) guard.World {
	h := guard.Here{Workspace: s.Workspace}
	// tickets, and where the gateway is
	if state, err := stateOf(config.Settings{}); err == nil && s.Confine != ConfineOff {
		folders = append(folders, state)
	}
	for _, dir := range append(folders, s.Rules, s.Policy, s.State, DecisionsIn(s)) {
		if dir != BuiltinRules {
			h.Own = append(h.Own, dir)
		}
	}
	for _, address := range []string{s.Listen, s.Admin, urls.AddressOf(s.Upstream), urls.AddressOf(s.Gateway),
		urls.AddressOf(s.Shared)} {
		if address != "" {
			h.Servers = append(h.Servers, address)
		}
	}
	return guard.NewWorld(h)
}
