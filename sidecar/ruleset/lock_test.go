package ruleset

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// underLock loads the shipped rules, changed, beneath a locked folder.
func underLock(t *testing.T, locked, changed rulefile.Files) (*Set, rulefile.Problems) {
	t.Helper()
	return Full.Load(lockedFiles(t, locked, changed))
}

// lockedFiles are those rules.
func lockedFiles(t *testing.T, locked, changed rulefile.Files) rulefile.Files {
	t.Helper()
	files := floored(maps.Clone(shipped(t)))
	maps.Copy(files, changed)
	for name, text := range locked {
		files["policy/"+name] = text
	}
	return files
}

// floored adds what a locked folder needs of the program.
func floored(files rulefile.Files) rulefile.Files {
	for _, name := range floor {
		files[rulefile.BuiltinFolder+"/"+name] = files[name]
	}
	return files
}

// TestNoLockWithoutFloor: a locked policy does not load where the program's classes of
// tools are missing.
func TestNoLockWithoutFloor(t *testing.T) {
	files := floored(shipped(t))
	files["policy/exec.yaml"] = "version: 1\n"
	for _, name := range floor {
		without := maps.Clone(files)
		delete(without, rulefile.BuiltinFolder+"/"+name)
		if set, problems := Full.Load(without); set != nil || !strings.Contains(problems.Error(), name) {
			t.Errorf("without %s: %v", name, problems)
		}
	}
}

// TestLockedOverExtra: what an extra file of the operator loosens is bound as what any other
// file says, and the warning stands there.
func TestLockedOverExtra(t *testing.T) {
	set, problems := underLock(t, rulefile.Files{
		limitsFile:     "version: 1\nsize: {text: 64KiB}\n",
		strategiesFile: "version: 1\noff: [markers]\n",
		execFilename:   "version: 1\nrules:\n  - {id: none, deny: No., when: cmd.binary == 'curl', hit: [curl x.test], miss: [ls]}\n",
	}, rulefile.Files{
		"extra/limits.mine.yaml":     "version: 1\nsize: {text: 128KiB}\n",
		"extra/strategies.mine.yaml": "version: 1\nstrategies: [{id: markers, enabled: true}]\n",
		"extra/exec.mine.yaml":       "version: 1\nprofile: permissive\nrules:\n  - {id: all, allow: Yes., when: cmd.binary == 'curl', hit: [curl x.test], miss: [ls]}\n",
	})
	if set == nil {
		t.Fatal(problems)
	}
	if set.Limits.TextBytes != 64<<10 || set.Barred("markers") == "" || effect("curl x.test")(set) != "deny" {
		t.Errorf("%d, %q, %s", set.Limits.TextBytes, set.Barred("markers"), effect("curl x.test")(set))
	}
	if !strings.Contains(problems.Error(),
		"extra/limits.mine.yaml:2:14: warning: size.text is 128KiB, and the locked folder allows 64KiB [W-locked]") {
		t.Error(problems)
	}
}

// TestLockedLimits: of two limits the smaller is in force, whoever says it, and a
// larger one of the operator is a warning with both places.
func TestLockedLimits(t *testing.T) {
	set, problems := underLock(t,
		rulefile.Files{limitsFile: "version: 1\nsize:\n  reply: 1MiB\n  text: 1GiB\ntime: {idle: 4s}\nretry: {times: 0}\n"}, nil)
	if set == nil {
		t.Fatal(problems)
	}
	was, l := loaded(t).Limits, set.Limits
	if l.ReplyBytes != 1<<20 || l.TextBytes != was.TextBytes || l.RequestBytes != was.RequestBytes ||
		l.Retries != 0 || l.Idle != 4*time.Second {
		t.Errorf("in force: %+v", l)
	}
	if l.LineBytes > l.ReplyBytes || l.Keepalive >= l.Idle {
		t.Errorf("what depends on a lowered limit is not lowered: %+v", l)
	}
	if len(problems) != 3 {
		t.Fatalf("%d warnings:\n%v", len(problems), problems)
	}
	want := `limits.yaml:10:10: warning: size.reply is 32MiB, and the locked folder allows 1MiB [W-locked]
    10 |   reply: 32MiB   # one reply of the model server
       |          ^^^^^
         what stands at policy/limits.yaml:3 is in force
`
	if got := problems.Error(); !strings.Contains(got, want) {
		t.Errorf("warned\n%s\nwant\n%s", got, want)
	}
}

// A limit that is left out, where that means none, is larger than any.
func TestLockedLoop(t *testing.T) {
	head, rest, _ := strings.Cut(shipped(t)[limitsFile], "loop:\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	for _, loop := range []string{"", "loop: {tell: 2, end: 9}\n"} {
		set, problems := underLock(t, rulefile.Files{limitsFile: "version: 1\nloop: {tell: 3, end: 4}\n"},
			rulefile.Files{limitsFile: head + loop + rest})
		if set == nil || set.Loop == nil || set.Limits.Loop.End != 4 {
			t.Fatalf("%q: %v", loop, problems)
		}
		if !strings.Contains(problems.Error(), "the locked folder allows 4") {
			t.Errorf("%q: %v", loop, problems)
		}
	}
}

// TestPace: a limits.yaml that says nothing of sessions has the limits of the shipped
// one, and the locked folder lowers these, too.
func TestPace(t *testing.T) {
	old := regexp.MustCompile(`(?s)\nsession:.*\nkeep:`).ReplaceAllString(shipped(t)[limitsFile], "\nkeep:")
	locked := rulefile.Files{limitsFile: "version: 1\nsession: {at_once: 4}\ncaller: {per_minute: 60}\n"}
	for name, row := range map[string]struct {
		rules, locked   rulefile.Files
		session, caller web.Pace
	}{
		"shipped":    {nil, nil, defaultLimits.Session, defaultLimits.Caller},
		"older":      {rulefile.Files{limitsFile: old}, nil, defaultLimits.Session, defaultLimits.Caller},
		"half":       {rulefile.Files{limitsFile: old + "\nsession: {per_minute: 5}\n"}, nil, web.Pace{AtOnce: defaultLimits.Session.AtOnce, PerMinute: 5}, defaultLimits.Caller},
		"under lock": {rulefile.Files{limitsFile: old}, locked, web.Pace{AtOnce: 4, PerMinute: defaultLimits.Session.PerMinute}, web.Pace{AtOnce: defaultLimits.Caller.AtOnce, PerMinute: 60}},
	} {
		set, problems := underLock(t, row.locked, row.rules)
		if set == nil || set.Limits.Session != row.session || set.Limits.Caller != row.caller {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if set, _ := underLock(t, nil,
		rulefile.Files{limitsFile: old + "\nsession: {at_once: 0}\n"}); set != nil {
		t.Error("nobody may ask, and it loads")
	}
}

// TestLockedClasses: a tool is at least as harmful as the locked folder says.
func TestLockedClasses(t *testing.T) {
	set, problems := underLock(t,
		rulefile.Files{argumentsFile: "version: 1\nclasses: {exec: [fetch, web_search], read: [write]}\n"},
		nil)
	if set == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]tools.Class{
		"web_fetch": tools.Exec, "web_search": tools.Exec, "write": tools.Write, "read": tools.Read,
		"exec": tools.Exec, "unheard": tools.Write,
	} {
		if got := set.Tools.Class(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}

// TestLockedStrategies: what the locked folder keeps off is off in every profile,
// under whatever id.
func TestLockedStrategies(t *testing.T) {
	renamed := testkit.Replace(t, shipped(t)[strategiesFile], "fuzzy", "guesses", -1)
	set, problems := underLock(t,
		rulefile.Files{strategiesFile: "version: 1\nkinds: [native, harmony, block]\noff: [markers, marker]\n"},
		rulefile.Files{strategiesFile: renamed})
	if set == nil {
		t.Fatal(problems)
	}
	for profile, text := range map[string]string{
		"prose": "I will search for the tide table.", DefaultProfile: "[TOOL:web_search|query=x]",
		"native": `{"name": "web_search", "arguments": {"query": "x"}}`,
	} {
		r := set.Strategies(profile).Reader(tools.NewCatalog(set.Tools, nil,
			[]tools.Tool{{Name: "web_search"}}), parse.Facts{MaxText: 1 << 16})
		r.Feed(parse.Delta{Content: text})
		if got, _ := r.Close("stop"); len(got.Calls) != 0 {
			t.Errorf("%s: %s gives %s", profile, text, callsText(got.Calls))
		}
	}
	got := problems.Error()
	for _, want := range []string{
		"markers is off in the locked folder [W-locked]",
		"the locked folder allows no strategy of kind phrases",
		"the locked folder allows no strategy of kind lines",
		"policy/strategies.yaml:3:16: warning: there is no strategy marker, so this locks nothing",
		"what stands at policy/strategies.yaml:2 is in force",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "tags") {
		t.Errorf("warned of what is allowed:\n%s", got)
	}
}

// TestLockedTests: tests of the locked folder run, too; an edit cannot break them.
func TestLockedTests(t *testing.T) {
	locked := rulefile.Files{"tests/security.yaml": "version: 1\ntests:\n  - name: markers stay text\n    reply: {content: '[TOOL:exec|command=ls]'}\n    gives: []\n"}
	if set, problems := underLock(t, locked, nil); set != nil ||
		!strings.Contains(problems.Error(), "policy/tests/security.yaml:3:11: markers stay text") {
		t.Errorf("%v", problems)
	}
	locked[strategiesFile] = "version: 1\noff: [markers]\n"
	if set, problems := underLock(t, locked, nil); set == nil {
		t.Errorf("%v", problems)
	}
	mine := rulefile.Files{"tests/mine.yaml": "version: 1\ntests:\n  - name: markers are calls\n    reply: {content: '[TOOL:read|path=x]'}\n    gives: [{tool: read, args: {path: x}}]\n"}
	set, problems := underLock(t, locked, mine)
	if set == nil || !strings.Contains(problems.Error(), "tests/mine.yaml:3:11: warning: markers are calls") {
		t.Errorf("a test of the operator stands against the lock: %v", problems)
	}
}

// TestLockedBroken: a locked folder that cannot be read locks out everything: the
// rules do not load.
func TestLockedBroken(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"another file": {modelsFile, "version: 1\n",
			"policy/models.yaml: a locked folder cannot hold this file [E-file]"},
		"an extra file": {"extra/exec.x.yaml", "version: 1\n",
			"policy/extra/exec.x.yaml: a locked folder cannot hold this file"},
		"a prompt": {"prompts/x.txt", "x",
			"policy/prompts/x.txt: a locked folder cannot hold this file"},
		"no version":      {limitsFile, "size: {text: 1KiB}\n", "policy/limits.yaml:1:1: the file lacks version"},
		"unknown key":     {limitsFile, "version: 1\nsizes: {text: 1KiB}\n", "unknown key sizes"},
		"a whole rule":    {strategiesFile, "version: 1\nstrategies: []\n", "unknown key strategies"},
		"unknown class":   {argumentsFile, "version: 1\nclasses: {run: [x]}\n", "there is no class run"},
		"unknown kind":    {strategiesFile, "version: 1\nkinds: [fuzzy]\n", "cannot be fuzzy"},
		"no sense at all": {limitsFile, "version: 1\nsize: {text: 12}\n", "policy/limits.yaml:2:14: text must be at least 1KiB"},
		"a wrong example": {execFilename, "version: 1\nprofile: permissive\nrules:\n  - {id: x, deny: no, when: command == 'a', hit: [a, b]}\n",
			"policy/exec.yaml:4:54: x does not hold for this"},
	} {
		load := untried
		if strings.Contains(c.text, "hit: ") {
			load = Full.Load
		}
		if set, problems := load(lockedFiles(t, rulefile.Files{c.file: c.text}, nil)); set != nil ||
			!strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s: %v", name, problems)
		}
	}
	for _, file := range lockable {
		for _, text := range []string{"", "# later\n"} {
			set, problems := untried(lockedFiles(t, rulefile.Files{file: text}, nil))
			if set != nil || !strings.Contains(problems.Error(), "policy/"+file+": this file is empty") {
				t.Errorf("%s holds %q: %v", file, text, problems)
			}
		}
	}
}

// TestLockedUnreadable: what has the wrong type, there or here, is reported and locks
// nothing.
func TestLockedUnreadable(t *testing.T) {
	files := maps.Clone(shipped(t))
	files["policy/strategies.yaml"] = "version: 1\nkinds: [native]\noff: [[x]]\n"
	files[strategiesFile] = testkit.Replace(t, files[strategiesFile], "- id: react\n", "- id: [react]\n", 1)
	set, problems := Full.Load(files)
	got := problems.Error()
	if set != nil || !strings.Contains(got, "policy/strategies.yaml:3:7:") ||
		!strings.Contains(got, "id must be a text [E-type]") {
		t.Errorf("set %v: %s", set != nil, got)
	}
}
