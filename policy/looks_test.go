package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/shipped"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// A command only looks if each of its programs is one of the list, and its arguments make it do nothing else.
func TestLooks(t *testing.T) {
	programs := []string{"ls", "cat", "find", "sed", "sort", "git status", "echo"}
	w := policy.World{Programs: shipped.Programs()}
	for command, want := range map[string]bool{
		"ls -la src": true, "cat a | sort": true, "find . -name '*.go'": true, "git status --short": true,
		"cat a 2>/dev/null": true,
		"rm a":              false, "ls > a": false, "find . -delete": false, "find . -exec rm {} +": false,
		"sed -i s/a/b/ f": false, "sort -o a b": false,
		"git push": false, "cat $(rm a)": false, "ls & ": false, "LD_PRELOAD=x ls": false, "./ls": false,
		"sudo ls": false, "cat 'a": false, "": false,
		"echo hi | sh": false, "$X": false, "ls; curl example.org": false, "sed 's/a/b/e' f": false,
		"sed 'w x' f": false,
	} {
		args, _ := json.Marshal(map[string]string{"command": command})
		if got := policy.Looks("exec", args, programs, w); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
	if args := []byte(`{"path":"a"}`); policy.Looks("exec", args, programs, w) {
		t.Error("a call without a command is none that looks")
	}
}
