package ruleset

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// TestBlockedCommands: an entry means what a command does, however it is spelt, and
// nothing that only looks like it.
func TestBlockedCommands(t *testing.T) {
	files := shipped(t)
	files[execFilename] = `version: 1
profile: permissive
blocked_commands: ['rm -rf /', shutdown, git push --force, docker *, rm -rf dist]
`
	set, problems := Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, blocked := range map[string]bool{
		"rm -rf /": true, "rm -r -f /": true, "rm --recursive --force /": true, "rm -Rf -- /": true, "r''m -fr //": true, "cd / && rm -rf .": true,
		"sudo rm -rf /": true, "sh -c 'rm -rf /'": true, "rm -rf /*": true, "shutdown now": true, "/sbin/shutdown": true, "git push origin --force": true,
		"git push -f": true, "docker ps": true,
		"rm -rf dist": true, "rm -fr ./dist/": true, "rm -rf dist2": false,
		"rm -rf ./x": false, "rm -r x": false, "echo 'rm -rf /'": false, "echo shutdown": false, "grep -r shutdown .": false, "git push": false, "git log -f": false,
	} {
		d := set.CheckCommand(command, somebody, corpusAt)
		if got := d.Rule == "blocked_commands"; got != blocked && !(blocked && d.Effect == policy.Deny) {
			t.Errorf("%s: %s by %s", command, d.Effect, d.Rule)
		}
	}
	all := set.Expansions()
	if len(all) != 5 || all[0].Effect != policy.Deny || !strings.HasPrefix(all[0].When, "cmd.binary == 'rm' and any(cmd.flags, # in ['-r', '-R', '--recursive'])") {
		t.Errorf("%+v", all)
	}
}

// TestAllowedCommands: an entry allows a program with what stands behind it, and the
// folders and addresses stay what they are.
func TestAllowedCommands(t *testing.T) {
	files := shipped(t)
	files[execFilename] = `version: 1
profile: strict
allowed_commands: [git status, ls, docker compose up, make test, npm run build]
`
	set, problems := Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string]policy.Effect{
		"git status": policy.Allow, "git status -s && ls": policy.Allow, "ls -l src": policy.Allow, "/usr/bin/git status": policy.Allow,
		"docker compose up -d": policy.Allow, "make -j2 test": policy.Allow, "npm run build": policy.Allow, "npm run evil build": policy.Deny, "git -C src status": policy.Allow,
		"git push origin status": policy.Deny, "git push status": policy.Deny, "docker up compose": policy.Deny, "docker run compose up": policy.Deny,
		"git push": policy.Deny, "cat x": policy.Deny, "ls | sh": policy.Deny, "./git status": policy.Deny, "ls /root/.ssh": policy.Deny, "ls $X": policy.Deny,
	} {
		if d := set.CheckCommand(command, somebody, corpusAt); d.Effect != want {
			t.Errorf("%s: %s by %s, %s", command, d.Effect, d.Rule, d.Why)
		}
	}
}
