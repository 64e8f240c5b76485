package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// What there is to see.
func TestAdminRules(t *testing.T) {
	r := adminOver(t)
	got := r.ask("GET", "/rules", "")
	if got.status != 200 || got.header.Get("ETag") != r.match() || got.get("version").Str != r.version() ||
		got.get("source").Str != "folder" ||
		got.get("folder").Str != r.dir || got.get("by").Str != "start" ||
		got.get("counts.examples").Int() == 0 || got.get("warnings.#").Raw != "0" ||
		got.get("refused").Exists() || time.Since(got.get("since").Time()) > time.Minute ||
		got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	file := got.get(`files.#(name="aliases.yaml")`)
	onDisk, err := os.ReadFile(r.dir + "/aliases.yaml")
	ruletest.Must(t, err)
	if file.Get("from").Str != "folder" || len(file.Get("sha256").Str) != 12 ||
		int(file.Get("bytes").Int()) != len(onDisk) || file.Get("text").Exists() {
		t.Errorf("%s", file.Raw)
	}
	if text := r.ask("GET", "/rules?files=1",
		"").get(`files.#(name="aliases.yaml").text`).Str; text != string(onDisk) {
		t.Errorf("%q", text)
	}
	if got := r.ask("GET", "/rules/files/builtin/prompts/native.txt", ""); got.status != 200 ||
		got.get("text").Str == "" || got.header.Get("ETag") != r.match() {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A person's round: look, try, put, look, go back.
func TestAdminPut(t *testing.T) {
	r := adminOver(t)
	first, edit := r.match(), r.own("one")
	if odd := r.ask("PUT", "/rules?dry=yes", r.putting(edit)); odd.status != 400 || r.match() != first {
		t.Fatalf("%d %s", odd.status, odd.body)
	}
	dry := r.ask("PUT", "/rules?dry=1", r.putting(edit))
	if dry.status != 200 || dry.get("changed").Bool() || dry.header.Get("ETag") != "" || r.match() != first {
		t.Fatalf("%d %s", dry.status, dry.body)
	}
	put := r.ask("PUT", "/rules", r.putting(edit), "If-Match", first)
	if put.status != 200 || !put.get("changed").Bool() || put.get("version").Str != r.version() ||
		put.get("version").Str != dry.get("version").Str ||
		put.header.Get("ETag") != r.match() || put.header.Get("X-Rules-Version") != r.version() ||
		r.match() == first {
		t.Fatalf("%d %s", put.status, put.body)
	}
	if onDisk, err := rulefile.ReadDir(r.dir); err != nil || len(onDisk.Differ(edit)) != 0 {
		t.Errorf("on disk: %v", err)
	}
	if again := r.ask("PUT", "/rules", r.putting(edit), "If-Match", r.match()); again.status != 200 ||
		again.get("changed").Bool() {
		t.Errorf("the same again: %d %s", again.status, again.body)
	}
	for _, text := range []any{"Be brief.", nil} {
		some := r.ask("PUT", "/rules",
			body(t, object{"merge": true, "files": object{"prompts/mine.txt": text}}), "If-Match", r.match())
		onDisk, err := rulefile.ReadDir(r.dir)
		ruletest.Must(t, err)
		if _, ok := onDisk["prompts/mine.txt"]; some.status != 200 || ok != (text != nil) ||
			onDisk["aliases.yaml"] != edit["aliases.yaml"] {
			t.Errorf("%v: %d %s", text, some.status, some.body)
		}
	}
	if got := r.ask("POST", "/rules/rollback", "", "If-Match", `"000000000000"`); got.status != 412 {
		t.Errorf("a stale rollback: %d %s", got.status, got.body)
	}
	back := r.ask("POST", "/rules/rollback", `{"version":`+first+`}`, "If-Match", r.match())
	if back.status != 200 || `"`+back.get("version").Str+`"` != first || r.match() != first {
		t.Errorf("%d %s", back.status, back.body)
	}
	if past := r.ask("GET", "/rules/history", ""); past.get("history.0.by").Str != "rollback" ||
		!past.get("history.0.in_force").Bool() || past.get("history.#").Int() < 3 {
		t.Errorf("%s", past.body)
	}
}

// Whoever puts must have seen what stands in the folder, too.
func TestAdminPutOverAnEditOnDisk(t *testing.T) {
	r := adminOver(t)
	ruletest.Edit(t, r.dir, "models.yaml", "mode: provider", "mode: provder")
	onDisk := r.onDisk()
	put := r.putting(r.own("one"))
	if got := r.ask("PUT", "/rules", put, "If-Match", r.match()); got.status != 412 ||
		!strings.Contains(got.body, onDisk.Version()) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask("PUT", "/rules", put, "If-Match", r.match()+`, "`+onDisk.Version()+
		`"`); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	ruletest.Must(t, os.RemoveAll(r.dir))
	if got := r.ask("PUT", "/rules", put, "If-Match", r.match()); got.status != 412 ||
		!strings.Contains(got.body, "cannot be read") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask("PUT", "/rules", put, "If-Match", "*"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Of many who put at once after the same look, one wins, and all others hear that.
func TestAdminPutsRace(t *testing.T) {
	r := adminOver(t)
	match := r.match()
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for _, alias := range []string{"one", "two", "three", "four"} {
		put := r.putting(r.own(alias))
		all.Go(func() {
			status := r.ask("PUT", "/rules", put, "If-Match", match).status
			mu.Lock()
			got[status]++
			mu.Unlock()
		})
	}
	all.Wait()
	if got[200] != 1 || got[412] != 3 {
		t.Errorf("%v", got)
	}
	if files := r.onDisk(); files.Version() != r.version() {
		t.Errorf("on disk %s", files.Version())
	}
}

// Where rules cannot be written, it is said why.
func TestAdminConflicts(t *testing.T) {
	r := adminOver(t)
	ruletest.Must(t, os.Mkdir(r.dir+"/.git", 0o755))
	if got := r.ask("PUT", "/rules", r.putting(r.own("one")), "If-Match", "*"); got.status != 409 ||
		!strings.Contains(got.body, "checkout") {
		t.Errorf("%d %s", got.status, got.body)
	}
	log := slog.New(slog.DiscardHandler)
	builtin, err := live.Open(ruletest.Loader(), ruletest.Source(t, ""), "", log, telemetry.New())
	ruletest.Must(t, err)
	r.api.Rules = builtin
	for _, path := range []string{"/rules", "/rules?dry=1"} {
		if got := r.ask("PUT", path, r.putting(r.own("one")), "If-Match", "*"); got.status != 409 ||
			!strings.Contains(got.body, "init DIR") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// A reply can be read with the rules in force, and with others before they are.
func TestAdminExplain(t *testing.T) {
	r := adminOver(t)
	content := script.Marker("read", `{"path":"a"}`).Content
	record := object{"id": 7, "message": object{"content": content}, "tools": []string{"read"},
		"label": "ignored"}
	got := r.ask("POST", "/explain", body(t, record))
	if got.status != 200 || got.get("rules_version").Str != r.version() || got.get("id").Int() != 7 ||
		got.get("calls.0.name").Str != "read" {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := r.own("one")
	const markers = "kind: frame\n    priority: 60"
	other["strategies.yaml"] = testkit.Replace(t, other["strategies.yaml"], markers,
		"enabled: false\n    "+markers, 1)
	record["rules"] = object{"files": other}
	if got := r.ask("POST", "/explain", body(t, record)); got.status != 200 ||
		got.get("rules_version").Str == r.version() || got.get("calls.#").Int() != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if len(r.rules.History()) != 1 || r.rules.Report(false).Refused != nil {
		t.Error("trying changes something")
	}
}

// The listener ends with its context, and what is being answered is answered.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	asked, answer := make(chan bool), make(chan bool)
	ran := make(chan error, 1)
	go func() {
		ran <- Serve(ctx, l, http.HandlerFunc(func(http.ResponseWriter,
			*http.Request) {
			asked <- true
			<-answer
		}), slog.New(slog.DiscardHandler))
	}()
	got := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Get("http://" + l.Addr().String())
		if err == nil {
			err = res.Body.Close()
		}
		got <- err
	}()
	<-asked
	stop()
	ruletest.Soon(t, "it accepts no more", func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			err = c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	close(answer)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), l, nil, slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a listener that is closed: %v", err)
	}
}

// Each rule has its hits, also one that has none.
func TestAdminHits(t *testing.T) {
	r := adminOver(t)
	r.m.Hits.WithLabelValues("gpt-oss", "", "strategies.yaml", "harmony").Inc()
	got := r.ask("GET", "/rules/hits", "")
	if hit := got.get(`rules.#(rule="harmony")`); hit.Get("hits").Int() != 1 ||
		!strings.HasPrefix(hit.Get("places.0").Str, "strategies.yaml:") {
		t.Errorf("%s", hit.Raw)
	}
	if never := got.get(`rules.#(rule="react")`); never.Get("hits").Raw != "0" ||
		got.get("since").Time().IsZero() {
		t.Errorf("%s", never.Raw)
	}
}
