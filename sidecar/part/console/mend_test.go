package console_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A row names the call that was not made, and says whether the policy or the name is to blame.
func TestNotMade(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{
		"fax": script.LeakedHarmony("send_fax", `{"to":"me"}`), "destroy": script.Native("exec",
			`{"command":"rm -rf / --no-preserve-root"}`), "schema": script.Native("read", `{"where":7}`),
	})
	for _, row := range []struct{ user, lost, decisions, mend string }{
		{"fax", "send_fax", "no such tool", "Say which tool <code>send_fax</code> means"}, {"destroy", "exec", "denied", "Try another rule on it"}, {"schema", "read", "not usable", "Try another rule on it"},
	} {
		v.s.Ask("s", row.user, false)
		list, turn := v.get("/console/?q="+row.lost).text, v.newest()
		_, first, _ := strings.Cut(list, "<tbody")
		first, _, _ = strings.Cut(first, "</tr>")
		if !strings.Contains(first, `data-f="lost">`+row.lost) || !strings.Contains(first, ">not made<") ||
			!strings.Contains(first, row.decisions) || strings.Contains(first, "refused") {
			t.Errorf("%s: the row is\n%s", row.user, first)
		}
		if !strings.Contains(turn, row.mend) {
			t.Errorf("%s: the turn has no way to mend it:\n%s", row.user, turn)
		}
	}
}

// Rules says what each file is for, those of the operator first, and that nobody has edited them yet.
func TestFilesSaid(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	v.signIn("Rob", stage.Reader)
	page := v.get("/console/rules").text
	_, files, _ := strings.Cut(page, `id="files"`)
	own, others, ok := strings.Cut(files, "<details>")
	for _, want := range []string{"The names that models and agents use for tools, in groups of the same kind of tool.", "Which calls may leave, and which commands may run."} {
		if !strings.Contains(own, `<span class="what">`+want+`</span>`) {
			t.Errorf("the files of the operator do not say %s:\n%s", want, own)
		}
	}
	if !ok || !strings.Contains(others, "of the program") ||
		!strings.Contains(others, "Version control: what leaves, what is lost, what is run.") ||
		!strings.Contains(others, "Three lines for a call.") {
		t.Errorf("the files of the program are\n%s", others)
	}
	if !strings.Contains(page, "none yet") || !strings.Contains(page, "They contain") {
		t.Error("an edit is told of that nobody has made")
	}
	v.edit("limits.yaml", "version: 1", "version: 1 # ours")
	if page := v.get("/console/rules").text; strings.Contains(page, "none yet") ||
		!strings.Contains(page, "taken</span>") {
		t.Error("the edit is not told of")
	}
}
