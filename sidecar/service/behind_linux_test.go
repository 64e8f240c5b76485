package service

import (
	"os"
	"strings"
	"testing"
)

func TestStandsBetween(t *testing.T) {
	for line, want := range map[string]bool{
		"/bin/sh -c x serve":              true,
		"/bin/bash /opt/start-sidecar.sh": true,
		"bash -eu /opt/start":             true,
		"-bash":                           false, // a login
		"bash -l":                         false,
		"bash":                            false,
		"npm exec gpt-oss-executor serve": true,
		"npm run sidecar":                 true,
		"/usr/bin/node /usr/bin/npx gpt-oss-executor":               true,
		"node /x/node_modules/.bin/gpt-oss-executor serve":          true,
		"node /x/node_modules/gpt-oss-executor/gpt-oss-executor.js": true,
		"node /x/openclaw/openclaw.mjs gateway run":                 false,
		"node":             false,
		"openclaw-gateway": false,
		"":                 false,
	} {
		if got := standsBetween(strings.Split(line, " ")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestParentOf(t *testing.T) {
	if got := parentOf(os.Getpid()); got != os.Getppid() {
		t.Errorf("%d and not %d", got, os.Getppid())
	}
	if got := parentOf(1 << 30); got != 0 {
		t.Errorf("nobody has the parent %d", got)
	}
}
