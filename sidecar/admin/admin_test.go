package admin

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

const adminToken = "let-me-in"

// adminRig is an admin API over a folder of rules of its own.
type adminRig struct {
	t     testing.TB
	dir   string
	rules *live.Rules
	log   *ruletest.Journal
	m     *telemetry.Metrics
	api   *API
	h     http.Handler
}

func adminOver(t testing.TB) *adminRig {
	r := &adminRig{t: t, dir: filepath.Join(t.TempDir(), "rules"), log: &ruletest.Journal{},
		m: telemetry.New()}
	ruletest.Copy(t, r.dir)
	level := &slog.LevelVar{}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: level}))
	var err error
	r.rules, err = live.Open(ruletest.Shared(ruletest.Loader()), ruletest.Source(t, r.dir), "", log, r.m)
	ruletest.Must(t, err)
	asked := guard.NewApprovals(r.rules.Set().Limits, time.Now, r.m, nil, "")
	r.api = &API{Rules: r.rules, World: guard.NewWorld(guard.Machine{Own: []string{r.dir}}), Approvals: asked,
		Drafts: NewDraftLimiter(), Misses: NewMisses(time.Now), Token: adminToken,
		Hosts: []string{"rules.lan"},
		Local: true, Metrics: r.m, Log: log, Level: level}
	r.api.Guard = guard.New(guard.Config{World: r.api.World, Approvals: asked, Now: time.Now, Metrics: r.m,
		Log: log})
	r.h = r.api.Handler()
	return r
}

// own is the folder in force, with a comment more; broken has a mistake; onDisk is what
// stands in the folder.
func (r *adminRig) own(comment string) rulefile.Files {
	return ruletest.Changed(r.t, r.rules.Merged(nil), comment)
}
func (r *adminRig) broken() rulefile.Files { return ruletest.Broken(r.t, r.rules.Merged(nil)) }
func (r *adminRig) onDisk() rulefile.Files {
	files, err := ruletest.Source(r.t, r.dir).Read()
	ruletest.Must(r.t, err)
	return files
}

func (r *adminRig) version() string { return r.rules.Set().Version }

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *answer) get(path string) gjson.Result { return gjson.Get(s.body, path) }

// ask sends a request with the token; headers can say something else.
func (r *adminRig) ask(method, path, body string, header ...string) *answer {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Host = "127.0.0.1:8002"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+adminToken)
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, req)
	return &answer{w.Code, w.Header(), w.Body.String()}
}

func body(t testing.TB, v any) string {
	t.Helper()
	doc, err := json.Marshal(v)
	ruletest.Must(t, err)
	return string(doc)
}

type object map[string]any

func (r *adminRig) putting(files rulefile.Files) string { return body(r.t, object{"files": files}) }
func (r *adminRig) match() string                       { return `"` + r.version() + `"` }

// Who may ask.
func TestAdminGuard(t *testing.T) {
	r := adminOver(t)
	for _, row := range []struct {
		name   string
		header []string
		want   int
	}{
		{"the token", nil, 200},
		{"no token", []string{"Authorization", ""}, 401},
		{"another token", []string{"Authorization", "Bearer let-me-inn"}, 401},
		{"another scheme", []string{"Authorization", "Basic " + adminToken}, 401},
		{"localhost", []string{"Host", "localhost:8002"}, 200},
		{"in capitals, with a dot", []string{"Host", "LOCALHOST."}, 200},
		{"IPv6", []string{"Host", "[::1]:8002"}, 200},
		{"IPv6 without a port", []string{"Host", "[::1]"}, 200},
		{"another loopback address", []string{"Host", "127.8.8.8"}, 200},
		{"the name of the setting", []string{"Host", "rules.lan:8002"}, 200},
		{"a name that was pointed here", []string{"Host", "evil.example:8002"}, 403},
		{"an address that is not ours", []string{"Host", "10.0.0.1:8002"}, 403},
		{"no host", []string{"Host", ""}, 403},
		{"its own origin", []string{"Origin", "http://127.0.0.1:8002"}, 200},
		{"another origin", []string{"Origin", "https://evil.example"}, 403},
		{"another port's origin", []string{"Origin", "http://127.0.0.1:3000"}, 403},
		{"an opaque origin", []string{"Origin", "null"}, 403},
	} {
		if got := r.ask("GET", "/rules", "", row.header...); got.status != row.want || got.status != 200 &&
			got.get("error.hint").Str == "" {
			t.Errorf("%s: %d %s", row.name, got.status, got.body)
		}
	}
	r.api.Local = false // then the token alone counts
	if got := r.ask("GET", "/rules", "", "Host", "rules.example"); got.status != 200 {
		t.Errorf("on the network: %d %s", got.status, got.body)
	}
	if got := r.ask("GET", "/healthz", "", "Authorization", ""); got.status != 200 {
		t.Errorf("healthz: %d", got.status)
	}
	if got := r.ask("GET", "/metrics", ""); got.status != 200 ||
		!strings.Contains(got.body, "rules_file_info") {
		t.Errorf("metrics: %d", got.status)
	}
	if got := r.ask("GET", "/metrics", "", "Authorization", ""); got.status != 401 {
		t.Errorf("metrics without a token: %d", got.status)
	}
}

// What is asked in a way that cannot be answered, and changes nothing.
func TestAdminRefuses(t *testing.T) {
	r := adminOver(t)
	good := r.putting(r.own("one"))
	stale := `"000000000000"`
	for _, row := range []struct {
		name, method, path, body string
		header                   []string
		want                     int
		says                     string
	}{
		{"no such path", "GET", "/rule", "", nil, 404, "/rules/history"},
		{"no such method", "DELETE", "/rules", "", nil, 405, "GET, PUT"},
		{"no such file", "GET", "/rules/files/nope.yaml", "", nil, 404, "GET /rules lists"},
		{"a file outside", "GET", "/rules/files/%2e%2e/x", "", nil, 404, ""},
		{"no If-Match", "PUT", "/rules", good, nil, 428, r.version()},
		{"a stale If-Match", "PUT", "/rules", good, []string{"If-Match", stale}, 412, r.version()},
		{"a stale dry run", "PUT", "/rules?dry=1", good, []string{"If-Match", stale}, 412, r.version()},
		{"no body", "PUT", "/rules", "", []string{"If-Match", "*"}, 400, "there are no files"},
		{"not JSON", "PUT", "/rules", "{", []string{"If-Match", "*"}, 400, "cannot be used"},
		{"more than JSON", "PUT", "/rules", good + "{}", []string{"If-Match", "*"}, 400, "follows"},
		{"a member that is misspelt", "PUT", "/rules", strings.Replace(good, "files", "flies", 1), []string{"If-Match", "*"}, 400, "flies"},
		{"a form", "PUT", "/rules", good, []string{"If-Match", "*", "Content-Type", "text/plain"}, 415, "curl --json"},
		{"too long", "PUT", "/rules", `{"files":{"a":"` + strings.Repeat("x", maxBody), []string{"If-Match", "*"}, 413, "longer than"},
		{"a name that climbs", "PUT", "/rules", `{"files":{"../x.yaml":""}}`, []string{"If-Match", "*"}, 400, "../x.yaml"},
		{"a hidden name", "PUT", "/rules", `{"files":{".x.yaml":""}}`, []string{"If-Match", "*"}, 400, ".x.yaml"},
		{"a locked name", "PUT", "/rules", `{"files":{"policy/x.yaml":""}}`, []string{"If-Match", "*"}, 400, "policy/x.yaml"},
		{"null without merge", "PUT", "/rules", `{"files":{"x.yaml":null}}`, []string{"If-Match", "*"}, 400, "merge"},
		{"rules that do not load", "PUT", "/rules", r.putting(r.broken()), []string{"If-Match", "*"}, 422, "mode cannot be provder"},
		{"a dry run of them", "PUT", "/rules?dry=1", r.putting(r.broken()), nil, 422, "mode cannot be provder"},
		{"another name", "PUT", "/rules", `{"files":{"alias.yaml":"version: 1"}}`, []string{"If-Match", "*"}, 422, "no rule file has this name"},
		{"a rollback without If-Match", "POST", "/rules/rollback", "", nil, 428, r.version()},
		{"a rollback to nothing", "POST", "/rules/rollback", "", []string{"If-Match", "*"}, 404, "history"},
		{"a rollback to what never was", "POST", "/rules/rollback", `{"version":"000000000000"}`, []string{"If-Match", "*"}, 404, "history"},
		{"a rollback that is misspelt", "POST", "/rules/rollback", `{"verson":"000000000000"}`, []string{"If-Match", "*"}, 400, "verson"},
		{"nothing to explain", "POST", "/explain", `{}`, nil, 400, "nothing to explain"},
		{"a tool that is none", "POST", "/explain", `{"message":{"content":"x"},"tools":[7]}`, nil, 400, "tools[0]"},
		{"a profile that is none", "POST", "/explain", `{"message":{"content":"x"},"profile":"nope"}`, nil, 400, "profile nope"},
		{"candidates that do not load", "POST", "/explain", `{"message":{"content":"x"},"rules":` + r.putting(r.broken()) + `}`, nil, 422, "provder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := r.version()
			got := r.ask(row.method, row.path, row.body, row.header...)
			if got.status != row.want || !strings.Contains(got.body, row.says) ||
				got.get("error.message").Str == "" {
				t.Errorf("%d %s", got.status, got.body)
			}
			if r.version() != before || got.header.Get("X-Rules-Version") != before ||
				len(r.rules.History()) != 1 {
				t.Error("the rules have changed")
			}
		})
	}
	if got := r.ask("PUT", "/rules", r.putting(r.broken()), "If-Match",
		"*"); got.get("error.problems.0.file").Str != "models.yaml" ||
		got.get("error.problems.0.line").Int() == 0 || got.get("error.problems.0.code").Str != "E-value" {
		t.Errorf("the place of the problem: %s", got.body)
	}
	if got := r.ask("GET", "/rules", ""); got.get("refused.by").Str != "put" ||
		got.get("refused.problems.#").Int() != 1 {
		t.Errorf("the refusal is not kept: %s", got.body)
	}
	if !strings.Contains(r.ask("GET", "/metrics", "").body, "rules_last_reload_successful 1") {
		t.Error("the files on disk load, and it is told that they do not")
	}
}

// Every path that is served stands in the guide.
func TestRoutesAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/endpoints.md")
	ruletest.Must(t, err)
	_, list, _ := strings.Cut(adminOver(t).ask("GET", "/nowhere", "").get("error.hint").Str, "there are ")
	paths := strings.Split(list, ", ")
	if len(paths) < 10 {
		t.Fatalf("%d paths in %q", len(paths), list)
	}
	for _, path := range paths {
		named := strings.NewReplacer("{name...}", "NAME", "{id}", "ID", "{version}", "VERSION").Replace(path)
		if !regexp.MustCompile("`([A-Z]+ )?" + named + "`").Match(guide) {
			t.Errorf("docs/endpoints.md does not name %s", named)
		}
	}
}

// A token is in no log or answer, whether it was right or wrong.
func TestTokensStayInside(t *testing.T) {
	const wrong = "wrong-s3cret"
	r := adminOver(t)
	var shown strings.Builder
	for _, with := range []string{adminToken, wrong} {
		for _, path := range []string{"/rules", "/rules/history", "/metrics", "/nowhere"} {
			shown.WriteString(r.ask("GET", path, "", "Authorization", "Bearer "+with).body)
		}
	}
	for _, secret := range []string{adminToken, wrong} {
		if strings.Contains(shown.String(), secret) || strings.Contains(r.log.String(), secret) {
			t.Errorf("%s can be read", secret)
		}
	}
}
