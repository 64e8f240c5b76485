package ruleset

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// TestApprovalLimits: the section may be left out, as a whole or in parts, and the
// locked folder bounds what is said and what is not.
func TestApprovalLimits(t *testing.T) {
	whole := shipped(t)[limitsFile]
	without, section, _ := strings.Cut(whole, "approvals:\n")
	shippedLimits := loaded(t).Limits
	for _, row := range []struct {
		name, says, locked string
		pending            time.Duration
		total              int
		problem            string
	}{
		{"as shipped", "approvals:\n" + section, "", 10 * time.Minute, 128, ""},
		{"nothing", "", "", 10 * time.Minute, 128, ""},
		{"a part", "approvals: {pending: 1h}\n", "", time.Hour, 128, ""},
		{"locked", "approvals: {pending: 1h}\n", "approvals: {pending: 2m, total: 200}", 2 * time.Minute, 128, "approvals.pending is 1h0m0s, and the locked folder allows 2m0s"},
		{"locked, unsaid", "", "approvals: {pending: 2m, total: 3}", 2 * time.Minute, 3, ""},
		{"no time at all", "approvals: {pending: 0s}\n", "", 0, 0, "pending must be at least 1s"},
		{"nobody", "approvals: {total: 0}\n", "", 0, 0, "total"},
	} {
		locked := rulefile.Files{}
		if row.locked != "" {
			locked[limitsFile] = "version: 1\n" + row.locked + "\n"
		}
		set, problems := underLock(t, locked, rulefile.Files{limitsFile: without + row.says})
		if row.pending == 0 {
			if set != nil || !strings.Contains(problems.Error(), row.problem) {
				t.Errorf("%s: %v", row.name, problems)
			}
			continue
		}
		if set == nil {
			t.Fatalf("%s: %v", row.name, problems)
		}
		if l := set.Limits; l.ApprovalPending != row.pending || l.ApprovalTotal != row.total ||
			l.ApprovalGranted != shippedLimits.ApprovalGranted ||
			l.ApprovalDenied != shippedLimits.ApprovalDenied ||
			l.ApprovalPerSession != shippedLimits.ApprovalPerSession {
			t.Errorf("%s: %+v", row.name, l)
		}
		if row.problem == "" && len(problems) > 0 || row.problem != "" && !strings.Contains(problems.Error(),
			row.problem) {
			t.Errorf("%s: %v", row.name, problems)
		}
	}
}

// TestExamplesHaveTheLimits: an example is read with the limits that a reply is read with.
func TestExamplesHaveTheLimits(t *testing.T) {
	files := shipped(t)
	const hit = `      - text: '<tool_call>{"name": "read", "arguments": {"path": "notes.md"}}</tool_call>'`
	deep := `      - text: '<tool_call>{"name": "read", "arguments": {"path": [[[[[[["x"]]]]]]],}}</tool_call>'` + "\n        gives: [{tool: read, args: {path: [[[[[[[x]]]]]]]}}]\n"
	files[strategiesFile] = testkit.Replace(t, files[strategiesFile], hit, deep+hit, 1)
	for depth, loads := range map[string]bool{"8": true, "7": false} {
		files[limitsFile] = testkit.Replace(t, shipped(t)[limitsFile], "depth: 128", "depth: "+depth, 1)
		if set, problems := Full.Load(files); (set != nil) != loads {
			t.Errorf("depth %s: %v", depth, problems)
		}
	}
}

// TestReadAtStartOnly: the guides name the limits that a reload does not change.
func TestReadAtStartOnly(t *testing.T) {
	const mark = "Read at start only."
	var keys []string
	key := func(f reflect.StructField) string { k, _, _ := strings.Cut(f.Tag.Get("rule"), ","); return k }
	for _, section := range rulefile.Keys(reflect.TypeFor[Limits]()) {
		if strings.Contains(section.Tag.Get("doc"), mark) {
			keys = append(keys, "all of `"+key(section)+"`")
		} else if section.Type.Kind() == reflect.Struct {
			for _, f := range rulefile.Keys(section.Type) {
				if strings.Contains(f.Tag.Get("doc"), mark) {
					keys = append(keys, "`"+key(section)+"."+key(f)+"`")
				}
			}
		}
	}
	last := len(keys) - 1
	want := strings.Join(keys[:last], ", ") + ", and " + keys[last]
	for _, guide := range []string{"../../rules/README.md", "../../docs/settings.md"} {
		text, err := os.ReadFile(guide)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("%s does not say: %s (%v)", guide, want, err)
		}
	}
}

// The guard against circles may be left out, says what is wrong with it, and is tightened by the
// locked folder. Of the shipped one, what is another one each time does not count.
func TestLoopLimits(t *testing.T) {
	head, rest, _ := strings.Cut(shipped(t)[limitsFile], "loop:\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	for says, want := range map[string]string{
		"":                           "0 0",
		"loop: {tell: 2, note: x}\n": "2 0",
		"loop: {tell: 4, note: x, end: 9, say: y}\n": "4 9",
		"loop: {tell: 1, note: x}\n":                 "it lies between 2 and 1000",
		"loop: {tell: 2}\n":                          "2 0",
		"loop: {end: 2}\n":                           "0 2",
		"loop: {say: y}\n":                           "loop has say, so it needs end",
		"loop: {end: 2, say: y, ignore: ['(']}\n":    "missing closing )",
		"loop: {end: 2, say: y, ignore: '[0-9]'}\n":  "ignore must be a list",
		"loop: {end: 2, say: y, until: 3}\n":         "unknown key until",
	} {
		files := maps.Clone(shipped(t))
		files[limitsFile] = head + says + "\n" + rest
		set, problems := untried(files)
		if set == nil {
			if !strings.Contains(problems.Error(), want) {
				t.Errorf("%q: %v", says, problems)
			}
			continue
		}
		if got := fmt.Sprint(set.Limits.Loop.Tell, set.Limits.Loop.End); got != want ||
			(set.Loop == nil) != (want == "0 0") {
			t.Errorf("%q: %s, want %s", says, got, want)
		}
	}
	set, problems := underLock(t, rulefile.Files{limitsFile: "version: 1\nloop: {end: 4, say: no}\n"},
		rulefile.Files{})
	if set == nil || set.Limits.Loop.End != 4 || set.Limits.Loop.Tell != 3 {
		t.Errorf("%v", problems)
	}
	same := func(results ...string) bool {
		body := `{"messages":[{"role":"user","content":"go"}`
		for i, r := range results {
			body += fmt.Sprintf(`,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function","function":{"name":"exec","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":%q}`, i, i, r)
		}
		q, err := openai.ParseRequest([]byte(body + "]}"))
		if err != nil {
			t.Fatal(err)
		}
		return loaded(t).Loop.Look(q).Note("c2") != ""
	}
	for _, row := range []struct {
		one, two string
		same     bool
	}{
		{"done 2026-03-01T10:00:00Z", "done 2026-03-02 11:22:33.5+01:00", true},
		{"took 3 ms", "took 17.5 ms", true},
		{"ok in 0.012s", "ok in 1.5s", true},
		{"pid 17", "PID: 4711", true},
		{"pid 17", "pid 4711", true},
		{`{"pid": 17, "elapsed_ms": 3}`, `{"pid": 18, "elapsed_ms": 4}`, true},
		{`{"timestamp":"a"}`, `{"timestamp":"b"}`, true},
		{"3 files", "4 files", false},
		{"port 8000", "port 8001", false},
		{`{"count": 3}`, `{"count": 4}`, false},
		{"line 3: no such file", "line 4: no such file", false},
	} {
		if got := same(row.one, row.two, row.one); got != row.same {
			t.Errorf("%s, %s: %v", row.one, row.two, got)
		}
	}
}
