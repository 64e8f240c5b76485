package decisions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// logOf is a closed log of these records.
func logOf(t testing.TB, list ...any) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	l := open(t, Config{Dir: dir})
	for _, r := range list {
		var err error
		switch r := r.(type) {
		case Decision:
			err = l.Add(r)
		case Answer:
			err = l.AddAnswer(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shut(t, l)
	return dir
}

// Logs of replicas are sound together if each is, and each approval was given and used once.
func TestVerifyAll(t *testing.T) {
	waits := Decision{Tool: "exec", Effect: policy.Ask, Approval: "aaaa-aaaa", Outcome: Refused}
	passes := Decision{Tool: "exec", Effect: policy.Ask, Approval: "aaaa-aaaa", Outcome: Passed}
	other := Decision{Tool: "exec", Effect: policy.Ask, Approval: "bbbb-bbbb", Outcome: Asked}
	yes, no := Answer{ID: "aaaa-aaaa", State: "allowed", By: "Sam"}, Answer{ID: "aaaa-aaaa", State: "denied",
		By: "Sam"}
	grant := Answer{ID: "aaaa-aaaa", State: "granted", By: "Sam", For: "session"}
	granted := passes
	granted.Grant = "session"
	for name, row := range map[string]struct {
		logs [][]any
		want string // of the first problem; empty: none
	}{
		"asked here, allowed there": {[][]any{{waits, passes}, {yes}}, ""},
		"three replicas":            {[][]any{{waits}, {yes}, {passes, other}}, ""},
		"nobody has allowed it": {[][]any{{waits, passes}, {other}},
			"which no log says a person gave"},
		"it was denied": {[][]any{{waits, passes}, {no}},
			"which no log says a person gave"},
		"two calls with one answer": {[][]any{{waits, passes}, {yes, passes}},
			"two calls passed with one approval, aaaa-aaaa"},
		"more calls with a grant":         {[][]any{{waits, granted, granted}, {grant, granted}}, ""},
		"a grant that was none":           {[][]any{{waits, granted}, {other}}, "which no log says a person gave"},
		"a grant of one call":             {[][]any{{waits, granted, granted}, {yes}}, "two calls passed with one approval"},
		"two calls with one answer, here": {[][]any{{waits, yes, passes, passes}, {}}, "two calls passed with one approval, aaaa-aaaa"},
	} {
		t.Run(name, func(t *testing.T) {
			var dirs []string
			for _, list := range row.logs {
				dirs = append(dirs, logOf(t, list...))
			}
			got, err := VerifyAll(dirs)
			if err != nil {
				t.Fatal(err)
			}
			if got.Sound() != (row.want == "") || row.want != "" && !strings.Contains(got.Problems[0],
				row.want) {
				t.Errorf("%v, want %q", got.Problems, row.want)
			}
			if text := strings.Join(got.Lines(), "\n"); strings.Contains(text,
				"problem") != (row.want != "") || !strings.Contains(text, dirs[1]) {
				t.Errorf("%s", text)
			}
		})
	}
}

// A log that is given twice, a copy, one that was changed, and a place that none has are named.
func TestVerifyAllNames(t *testing.T) {
	a, b := logOf(t, Decision{Tool: "a"}, Decision{Tool: "a"}), logOf(t, Decision{Tool: "b"})
	if _, err := VerifyAll([]string{a, b, a + "/."}); err == nil ||
		!strings.Contains(err.Error(), "one folder") {
		t.Errorf("twice: %v", err)
	}
	at, err := Last(a)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := VerifyAll([]string{b, a}, at); err != nil || !r.Sound() {
		t.Errorf("%v %v", r, err)
	}
	if r, err := VerifyAll([]string{b}, at); err != nil || r.Sound() ||
		!strings.Contains(r.Problems[0], "no log has the record") {
		t.Errorf("%v %v", r, err)
	}
	twin := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(twin, os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	if r, err := VerifyAll([]string{a, twin}); err != nil || r.Sound() ||
		!strings.Contains(r.Problems[0], "one is a copy") {
		t.Errorf("%v %v", r, err)
	}
	list, err := segments(b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list[0].path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, list[0].path, []byte(strings.Replace(string(text), `"tool":"b"`, `"tool":"c"`, 1)))
	if r, err := VerifyAll([]string{a, b}); err != nil || r.Sound() || len(r.Logs[1].Problems) == 0 {
		t.Errorf("%v %v", r, err)
	}
}
