package ruleset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// implicit are programs that read the folder they work in, as a command of which %s is the
// folder, and as one that works there.
var implicit = []struct{ named, there string }{
	{"ls %s", "ls"}, {"ls -la %s", "ls -la"}, {"du -a %s", "du -a"}, {"tree %s", "tree"}, {"git -C %s log -p", "git log -p"}, {"git -C %s show HEAD", "git show HEAD"},
	{"git -C %s grep -n x", "git grep -n x"}, {"grep -r x %s", "grep -r x"}, {"rg x %s", "rg x"}, {"find %s", "find"}, {"fd . %s", "fd ."},
}

// The folder that a program works in is judged as the operand that would name it, however
// the program gets there.
func TestWorkingFolderIsAnOperand(t *testing.T) {
	set := loaded(t)
	judge := func(tool string, args map[string]any) policy.Decision {
		doc, err := json.Marshal(args)
		check(t, err)
		return set.Decide(tools.Call{Name: tool, Arguments: doc, Confidence: 1}, somebody, corpusAt)
	}
	for _, folder := range []string{"/srv/customers", "/home/agent/.ssh", "/home/kim", "/home/agent/code",
		"/opt/x", "/etc", "/root", "/home/agent/.openclaw", "/srv/project/src", "/tmp/x", "/usr/share"} {
		for _, p := range implicit {
			want := set.CheckCommand(filled(p.named, folder), somebody, corpusAt)
			for _, line := range []string{
				"cd " + folder + " && " + p.there, "cd " + folder + "; " + p.there,
				"(cd " + folder + " && " + p.there + ")", "pushd " + folder + "; " + p.there,
				"env -C " + folder + " " + p.there, "cd " + folder + " && timeout 5 " + p.there,
				"bash -c 'cd " + folder + " && " + p.there + "'", "f=" + folder + "; cd \"$f\" && " + p.there,
			} {
				if got := set.CheckCommand(line, somebody, corpusAt); weaker(got.Effect, want.Effect) {
					t.Errorf("%s: %s by %s, but %s is %s", line, got.Effect, got.Rule,
						filled(p.named, folder), want.Effect)
				}
			}
			if got := judge("exec", map[string]any{"command": p.there, "workdir": folder}); weaker(got.Effect,
				want.Effect) {
				t.Errorf("%s in %s: %s by %s, but it is %s with an operand", p.there, folder, got.Effect,
					got.Rule, want.Effect)
			}
			if got := judge("run_shell_command", map[string]any{"command": p.there,
				"directory": folder}); weaker(got.Effect, want.Effect) {
				t.Errorf("%s in the directory %s: %s by %s, but it is %s with an operand", p.there, folder,
					got.Effect, got.Rule, want.Effect)
			}
		}
	}
	for line, want := range map[string]policy.Effect{
		"cd /home/agent/code && git status": policy.Allow, "cd /opt/x && ls": policy.Allow,
		"cd /etc && cat hosts | sort": policy.Allow, "cd /usr/share && ls": policy.Allow,
		"cd ~ && du -sh":    policy.Allow,
		"cd src && git log": policy.Allow, "cd /tmp && ls": policy.Allow,
		"cd \"$(git rev-parse --show-toplevel)\" && git status": policy.Allow,
		"cd \"$DIR\" && ls": policy.Ask,
		"for d in */; do (cd \"$d\" && git status); done":                                      policy.Allow,
		"for d in ~/code/*/; do (cd \"$d\" && git log); done":                                  policy.Allow,
		"for d in /srv/*/; do (cd \"$d\" && git log); done":                                    policy.Ask,
		"for d in ~/.s*/; do (cd \"$d\" && ls); done":                                          policy.Deny,
		"for d in */; do cd \"$d\"; if x; then cd ../../../home/agent/.ssh; fi; git log; done": policy.Ask,
		"for d in */; do cd \"$d\"; cd ..; git log; done":                                      policy.Ask,
		"cd \"$DIR\" && echo done":                                                             policy.Allow,
	} {
		if got := set.CheckCommand(line, somebody, corpusAt); got.Effect != want {
			t.Errorf("%s: %s by %s (%s), want %s", line, got.Effect, got.Rule, got.Why, want)
		}
	}
}

// A rule about what is below a folder holds for who works in that folder, too.
func TestWorkingFolderUnderLock(t *testing.T) {
	lock := rulefile.Files{pathsFilename: "version: 1\nrules:\n  - id: customers\n    deny: Customer data stays where it is.\n    when: resolved startsWith \"/srv/project/customers/\"\n  - id: rest\n    allow: Anything else.\n"}
	files, err := lockedSource(t, builtin(t), lock).Read()
	check(t, err)
	set, problems := Full.Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, p := range implicit {
		for _, line := range []string{"cd customers && " + p.there, "cd /srv/project; cd customers; " +
			p.there, filled(p.named, "customers")} {
			if got := set.CheckCommand(line, somebody, corpusAt); got.Rule != "customers" {
				t.Errorf("%s: %s by %s", line, got.Effect, got.Rule)
			}
		}
	}
	for _, line := range []string{"ls", "git log", "cd src && git log"} {
		if got := set.CheckCommand(line, somebody, corpusAt); got.Effect != policy.Allow {
			t.Errorf("%s: %s by %s", line, got.Effect, got.Rule)
		}
	}
}

func weaker(a, b policy.Effect) bool {
	rank := map[policy.Effect]int{policy.Allow: 0, policy.Audit: 0, policy.Ask: 1, policy.Deny: 2}
	return rank[a] < rank[b]
}

func filled(line, folder string) string { return strings.Replace(line, "%s", folder, 1) }
