package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What is allowed for a session passes without a question until it is ended on the page. The page says what
// that covers, before and after.
func TestGrantsOnThePage(t *testing.T) {
	dir := t.TempDir()
	v := open(t, func(s *config.Settings) { stage.Tokens(s); s.Decisions = dir }, map[string]script.Reply{
		"one": script.Native("read", `{"path":"/srv/other/one"}`),
	})
	v.signIn("Ann", stage.Approver)
	v.s.Ask("s", "one", false)
	const covers = "read: it reads &#34;/srv/other/one&#34; (rule"
	if page := v.get("/console/approvals").text; !strings.Contains(page, covers) ||
		!strings.Contains(page, `<option value="session">this session</option>`) {
		t.Errorf("it does not say what can be allowed:\n%s", page)
	}
	id := approvalOf(v)
	answer := func(form string, want int) {
		t.Helper()
		if p := v.do(http.MethodPost, "/console/approvals/"+id, form); p.StatusCode != want {
			t.Errorf("%s: %s", form, p.Status)
		}
	}
	answer("answer=allow&for=ever", http.StatusConflict)
	answer("answer=allow&for=session", http.StatusSeeOther)
	v.s.Ask("s", "one", false)
	ray := &visitor{t: t, s: v.s}
	ray.signIn("Ray", stage.Reader)
	for who, page := range map[string]string{"an approver": v.get("/console/approvals").text,
		"a reader": ray.get("/console/approvals").text} {
		if !strings.Contains(page, covers) || !strings.Contains(page, "Nothing waits") ||
			!strings.Contains(page, "for this session, by Ann") ||
			strings.Contains(page, ">End<") != (who == "an approver") {
			t.Errorf("%s sees\n%s", who, page)
		}
	}
	if log := v.get("/console/decisions").text; !strings.Contains(log, id) {
		t.Errorf("the log does not name the grant:\n%s", log)
	}
	answer("answer=end", http.StatusSeeOther)
	v.s.Ask("s", "one", false)
	if approvalOf(v) == id {
		t.Error("the call is not asked about again")
	}
}
