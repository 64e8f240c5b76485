//go:build unix

package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const rowMark = `<tr data-effect="`

// Every page says that the log cannot be written, and the list what is missing in it. The disk is full for no
// smaller file: that of the test itself must grow.
func TestFull(t *testing.T) {
	long := []byte(`{"command":"echo ` + strings.Repeat("reports ", 1500) + `"}`)
	v, s := keeping(t, nil, map[string]script.Reply{"list": script.Native("exec",
		`{"command":"ls -l `+strings.Repeat("reports ", 400)+`"}`)}, func(s *config.Settings) {
		logged(t, s.Decisions, slices.Repeat([]decisions.Decision{{Tool: "exec", Arguments: long,
			Effect: "allow", Outcome: decisions.Passed}}, 500)...)
	})
	segment, err := os.Stat(filepath.Join(s.Decisions, "000000000001.jsonl"))
	ruletest.Must(t, err)
	var limit syscall.Rlimit
	ruletest.Must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	low := limit
	low.Cur = uint64(segment.Size()) + 8<<10
	ruletest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low))
	for i := range 6 {
		v.s.Ask(fmt.Sprint("s", i), "list", false)
	}
	said := func() bool {
		return strings.Contains(v.get("/console/").text, "The decision log cannot be written")
	}
	full := said()
	ruletest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if !full {
		t.Error("the first page does not say it")
	}
	v.s.Ask("last", "list", false)
	if text := v.get("/console/decisions").text; said() ||
		!strings.Contains(text, "could not be written: ") || !strings.Contains(text, rowMark+`gap"`) {
		t.Errorf("it is over: %.3000s", text)
	}
	if text := v.get("/console/health").text; !regexp.MustCompile(`Decisions not logged</dt><dd>\d+ decisions`).MatchString(text) {
		t.Errorf("no count: %s", text)
	}
}

// A run of damaged lines is one row, and hides no page behind it.
func TestDamagedRun(t *testing.T) {
	v, s := keeping(t, nil, nil, func(s *config.Settings) {
		for range 3 {
			logged(t, s.Decisions, decisions.Decision{Tool: "exec", Arguments: []byte(`{"command":"ls"}`),
				Effect: "deny", Outcome: decisions.Refused})
		}
	})
	name := filepath.Join(s.Decisions, "000000000001.jsonl")
	doc, err := os.ReadFile(name)
	ruletest.Must(t, err)
	lines := strings.SplitAfter(string(doc), "\n")
	for what, damage := range map[string]string{"many": strings.Repeat("partial\n", 120),
		"a long one": strings.Repeat("\x00", 2<<20) + "\n"} {
		ruletest.Must(t, os.WriteFile(name, []byte(strings.Join(lines[:4], "")+damage+strings.Join(lines[4:],
			"")), 0o600))
		p := v.get("/console/decisions")
		if n := strings.Count(p.text, `class="damaged"`); n != 1 || strings.Count(p.text, rowMark) != 3 ||
			what == "many" && !strings.Contains(p.text, "119 lines before it") {
			t.Errorf("%s: %s, %d rows: %.3000s", what, p.Status, n, p.text)
		}
	}
}

// Under no-text links find by the exact id, and no host stands in the list.
func TestIDsWithoutWords(t *testing.T) {
	v, _ := keeping(t, func(s *config.Settings) { config.Of[console.Settings](s).Console = "no-text" }, nil,
		func(s *config.Settings) {
			l, err := decisions.Open(decisions.Config{Dir: s.Decisions})
			ruletest.Must(t, err)
			ruletest.Must(t, l.AddConnection(decisions.Connection{Ticket: "T1", Tool: "exec",
				Server: "whispered.example.com:443", Method: "CONNECT", Effect: "allow",
				Outcome: decisions.Connected}))
			for i := range 5 {
				ruletest.Must(t, l.Add(decisions.Decision{Request: fmt.Sprint("req", i),
					Approval: fmt.Sprint("ask", i), Tool: "exec", Why: "whispered", Effect: "allow",
					Outcome: decisions.Passed}))
			}
			ruletest.Must(t, l.Close())
		})
	for q, want := range map[string]int{"": 6, "req3": 1, "ask1": 1, "T1": 1, "req": 0, "whispered": 0} {
		p := v.get("/console/decisions?" + url.Values{"q": {q}}.Encode())
		if n := strings.Count(p.text, rowMark); n != want || strings.Contains(p.text, "whispered.example") {
			t.Errorf("%q: %d rows", q, n)
		}
	}
}

// With words: 0 in limits.yaml the words of turns that are kept already are gone at once.
func TestWordsAreDropped(t *testing.T) {
	const word = "whispered"
	v := open(t, nil, map[string]script.Reply{"one": script.Native("write",
		`{"path":"/srv/other/a","content":"`+word+`"}`), "two": script.Native(word, `{"path":"a"}`)})
	v.s.Ask("s", "one", false)
	v.s.Ask("s", "two", false)
	turns := regexp.MustCompile(`/console/turns/[^"]+`).FindAllString(v.get("/console/").text, -1)
	heard := func() (found []string) {
		for _, path := range append(turns, "/console/", "/console/playground") {
			if strings.Contains(v.get(path).text, word) {
				found = append(found, path)
			}
		}
		return found
	}
	if len(turns) < 2 || len(heard()) < 2 {
		t.Fatalf("%q, %q", turns, heard())
	}
	name := filepath.Join(v.s.Rules, "limits.yaml")
	doc, err := os.ReadFile(name)
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(name, []byte(testkit.Replace(t, string(doc), "  words: 2MiB", "  words: 0",
		1)), 0o600))
	ruletest.Soon(t, "the rules are taken", func() bool { return v.s.Log.Count("rules_taken") > 0 })
	if found := heard(); found != nil {
		t.Errorf("it still stands in %q", found)
	}
}

// Where a text is cut, no half of a secret is left.
func TestCutSecrets(t *testing.T) {
	token := "ghp_" + strings.Repeat("Ab1", 12)
	v, s := keeping(t, nil, map[string]script.Reply{
		"text": script.Text(strings.Repeat("y", 64<<10-14) + " " + token + " tail"),
		"args": script.Native("write", `{"path":"a","pad":"`+strings.Repeat("a ", 33<<10)+
			`","password":"hunter2"}`),
		"late": script.Native("write", `{"password":"hunter2","path":"a","pad":"`+strings.Repeat("a ",
			33<<10)+`"}`),
	}, func(s *config.Settings) { interrupted(t, s, "run-a", strings.Repeat("x", 141)+" "+token+" tail") })
	for _, what := range []string{"text", "args", "late"} {
		v.s.Ask("s-"+what, what, false)
	}
	paths := append(regexp.MustCompile(`/console/turns/[^"]+`).FindAllString(v.get("/console/").text, -1),
		"/console/runs", "/console/decisions", "/console/decisions/2")
	for _, path := range paths {
		if text := v.get(path).text; strings.Contains(text, token[:8]) || strings.Contains(text, "hunter2") {
			t.Errorf("%s shows a secret, or a half", path)
		}
	}
	if len(paths) < 6 || strings.Contains(v.get("/console/runs?q="+token[:20]).text, "run-a") {
		t.Errorf("a secret can be searched, or no turn is kept: %q", paths)
	}
	ruletest.Must(t, os.RemoveAll(filepath.Join(s.State, run.Folder)))
	if p := v.get("/console/runs"); p.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(p.text, "The runs cannot be read") {
		t.Errorf("their folder is gone: %s", p.Status)
	}
}
