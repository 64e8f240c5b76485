package service

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// BuiltinRules is what people write for the built-in rules where a folder is asked
// for.
const BuiltinRules = "builtin"

// World is where the calls of a server are judged.
func World(s config.Settings, folders ...string) guard.World {
	h := guard.Machine{Workspace: s.Workspace}
	if state, err := StateOf(config.Settings{}); err == nil { // tickets, and where agents are
		folders = append(folders, state)
	}
	for _, dir := range append(folders, s.Rules, s.Policy, s.State, DecisionsIn(s)) {
		if dir != BuiltinRules {
			h.Own = append(h.Own, dir)
		}
	}
	for _, setting := range s.All() {
		address := *setting.Text
		if setting.Is == "URL" {
			address = urls.AddressOf(address)
		} else if setting.Is != "HOST:PORT" {
			continue
		}
		if address != "" {
			h.Servers = append(h.Servers, address)
		}
	}
	return guard.NewWorld(h)
}

// StateOf is the folder for what outlives a run.
func StateOf(s config.Settings) (string, error) {
	if s.State != "" {
		return filepath.Abs(s.State)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gpt-oss-executor"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("tickets of confined commands need a folder: set --state: %w", err)
	}
	return filepath.Join(home, ".local", "state", "gpt-oss-executor"), nil
}
