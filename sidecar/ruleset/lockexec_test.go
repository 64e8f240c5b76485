package ruleset

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// lockedSource is an operator's folder and a locked one on disk.
func lockedSource(t *testing.T, own, locked rulefile.Files) rulefile.Source {
	t.Helper()
	src := Full.Source(t.TempDir(), t.TempDir(), builtin(t))
	for dir, files := range map[string]rulefile.Files{src.Dir: own, src.Policy: locked} {
		for _, folder := range rulefile.Folders() {
			mkdir(t, dir+"/"+folder)
		}
		for name, text := range files {
			write(t, dir+"/"+name, text)
		}
	}
	return src
}

// TestLockedIncludes: a locked file includes files of the program, which need not be
// named by the operator, and none of his.
func TestLockedIncludes(t *testing.T) {
	own := builtin(t)
	own["packs/sec.yaml"] = "version: 1\nrules: [{id: mine, allow: I like it}]\n"
	for include, want := range map[string]string{
		"builtin/exec.yaml": "",
		"packs/sec.yaml":    "policy/exec.yaml:2:11: a locked file cannot include packs/sec.yaml [E-ref]",
		"exec.yaml":         "a locked file cannot include exec.yaml [E-ref]",
		"policy/exec.yaml":  "policy/exec.yaml includes itself [E-ref]",
		"builtin/exe.yaml":  "there is no builtin/exe.yaml [E-ref]",
	} {
		files, err := lockedSource(t, own, rulefile.Files{execFilename: "version: 1\ninclude: [" + include +
			"]\nprofile: strict\n"}).Read()
		if err != nil {
			t.Fatal(err)
		}
		set, problems := untried(files)
		if (set != nil) != (want == "") || !strings.Contains(problems.Error(), want) {
			t.Errorf("%s: %v", include, problems)
		}
		if set != nil && len(set.locked.rules) < len(set.own.rules)/2 {
			t.Errorf("%d rules of %d are included", len(set.locked.rules), len(set.own.rules))
		}
	}
}

// TestLockedWithoutProfile: a locked file that names no profile only adds its rules.
func TestLockedWithoutProfile(t *testing.T) {
	locked := "version: 1\nrules:\n  - id: no-curl\n    deny: No.\n    when: cmd.binary == 'curl'\n    hit: [curl x.test]\n    miss: [ls]\n"
	files, err := lockedSource(t, builtin(t), rulefile.Files{execFilename: locked}).Read()
	if err != nil {
		t.Fatal(err)
	}
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string]policy.Effect{"ls": policy.Allow, "unheard-of": policy.Ask,
		"curl https://example.com/": policy.Deny} {
		if d := set.CheckCommand(command, somebody, corpusAt); d.Effect != want {
			t.Errorf("%s for %s, want %s", d.Effect, command, want)
		}
	}
}

// TestLockedWithoutPaths: a profile is about the files that the locked folder has.
func TestLockedWithoutPaths(t *testing.T) {
	files, err := lockedSource(t, builtin(t),
		rulefile.Files{execFilename: "version: 1\ninclude: [builtin/exec.yaml]\nprofile: strict\n"}).Read()
	if err != nil {
		t.Fatal(err)
	}
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string]policy.Effect{"cat a": policy.Allow,
		"curl https://example.com/": policy.Allow, "cat ~/.ssh/id_rsa": policy.Deny,
		"unheard-of": policy.Deny} {
		if d := set.CheckCommand(command, somebody, corpusAt); d.Effect != want {
			t.Errorf("%s for %s, want %s", d.Effect, command, want)
		}
	}
}

// TestLockedClassFloor: the operator cannot make a tool harmless for the locked policy
// that the program knows to be harmful, and for his own he can.
func TestLockedClassFloor(t *testing.T) {
	own := builtin(t)
	for from, to := range map[string]string{"  exec: [exec, ": "  exec: [",
		"  read: [get, ": "  read: [exec, get, ", "'*exec':": "'*read':"} {
		own[argumentsFile] = testkit.Replace(t, own[argumentsFile], from, to, -1)
	}
	deny := "version: 1\nprofile: permissive\nrules:\n  - {id: ID, deny: Not here., when: class == 'exec'}\n"
	own[execFilename] = strings.Replace(deny, "ID", "mine", 1)
	files, err := lockedSource(t, own, rulefile.Files{execFilename: strings.Replace(deny, "ID", "theirs",
		1)}).Read()
	if err != nil {
		t.Fatal(err)
	}
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	if got := set.Tools.Class("exec"); got == tools.Exec {
		t.Errorf("to the operator's policy, exec is %s", got)
	}
	call := tools.Call{Name: "exec", Arguments: []byte(`{"command": "ls"}`)}
	if d := set.Decide(call, somebody, exampleAt()); d.Effect != policy.Deny || d.Rule != "theirs" {
		t.Errorf("%+v", d)
	}
	verdicts := set.Verdicts(call, somebody, exampleAt())
	verdicts = slices.DeleteFunc(verdicts,
		func(v Verdict) bool { return !strings.Contains(v.Place, execFilename) })
	if len(verdicts) != 2 || verdicts[0].Holds || !verdicts[1].Holds {
		t.Errorf("%+v", verdicts)
	}
	if d := set.Decide(tools.Call{Name: "read", Arguments: []byte(`{}`)}, somebody,
		exampleAt()); d.Effect != policy.Allow {
		t.Errorf("%+v", d)
	}
}

// someTest is a test file with one test.
func someTest(name, more string) string {
	return "version: 1\ntests:\n  - name: " + name +
		"\n    reply: {content: '[TOOL:exec|command=ls]'}\n" + more
}

// TestTighten: neither a test of the operator nor one of the locked folder keeps the
// rest of the locked folder from taking effect; what is wrong in the rest does.
func TestTighten(t *testing.T) {
	call := "    gives: [{tool: exec, args: {command: ls}}]\n"
	for name, c := range map[string]struct {
		locked          rulefile.Files
		loads, tightens bool
		want            string
	}{
		"a name of both": {rulefile.Files{"tests/a.yaml": someTest("theirs", call)}, true, true, ""},
		"a name twice": {rulefile.Files{"tests/a.yaml": someTest("x", call),
			"tests/b.yaml": someTest("x", call)}, false, true, "the test x stands here twice"},
		"a test that fails": {rulefile.Files{"tests/a.yaml": someTest("x", "    gives: []\n")}, false,
			true, "policy/tests/a.yaml:3:11: warning: x: the rules make exec"},
		"no such profile": {rulefile.Files{"tests/a.yaml": someTest("x", call+"    profile: y\n")},
			false, true, "there is no profile y"},
		"a test of the folder": {rulefile.Files{"tests/a.yaml": "version: 1\n"}, false, true,
			"policy/tests/a.yaml:1:1: warning: the file lacks tests"},
		"limits that are wrong": {rulefile.Files{limitsFile: "version: 2\n"}, false, false, "policy/limits.yaml:1:10: version cannot be 2"},
	} {
		files := maps.Clone(builtin(t))
		files["tests/mine.yaml"] = someTest("theirs", call)
		for name, text := range c.locked {
			files["policy/"+name] = text
		}
		if set, problems := Full.Load(files); (set != nil) != c.loads {
			t.Errorf("%s: %v", name, problems)
		}
		if set, problems := Full.Tighten(files); (set != nil) != c.tightens ||
			!strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// TestLockedCounts: under a lock, all that is tried without one is tried, too, and
// the examples of the locked policy, whoever asks.
func TestLockedCounts(t *testing.T) {
	files := floored(shipped(t))
	set := loaded(t)
	files["policy/exec.yaml"] = "version: 1\nprofile: permissive\nrules:\n  - {id: x, deny: no, when: command == 'a', hit: [a], miss: [b]}\n"
	want := set.Counts.Examples + 2
	report, problems := Full.Test(files, func(string) bool { return true })
	if report == nil || report.Examples != want || len(report.Tests) != set.Counts.Tests {
		t.Fatalf("%+v: %v", report, problems)
	}
	if c := report.Covered[len(report.Covered)-1]; c.ID != "x" || c.Examples != 1 {
		t.Errorf("%+v", c)
	}
	if set, problems := Full.Load(files); set == nil || set.Counts.Examples != want || len(problems) > 0 {
		t.Errorf("%+v: %v", set, problems)
	}
	files["policy/exec.yaml"] = testkit.Replace(t, files["policy/exec.yaml"], "hit: [a]", "hit: [b]", 1)
	if report, problems := Full.Test(files, func(string) bool { return true }); report != nil {
		t.Errorf("a wrong example of the locked policy: %v", problems)
	}
}

// TestLockedLint: conditions of the locked policy that make no difference are told.
func TestLockedLint(t *testing.T) {
	set, problems := underLock(t,
		rulefile.Files{execFilename: "version: 1\nprofile: permissive\nrules:\n  - {id: x, deny: no, when: class == 'run'}\n"}, nil)
	if set == nil || len(problems) != 1 || problems[0].File != "policy/exec.yaml" || !problems[0].Warning {
		t.Error(problems)
	}
}
