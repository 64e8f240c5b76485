package upstream

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// harbour is a fleet of main, p and q, whose clock stands until it is moved.
type harbour struct {
	*Fleet
	t     testing.TB
	set   *ruleset.Set
	model ruleset.Model
	mu    sync.Mutex
	now   time.Time
}

func newHarbour(t testing.TB, order ...string) *harbour {
	t.Helper()
	model := script.New()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, r.URL.Path, _ = strings.Cut(r.URL.Path, "/v1/") // p and q are below it
		r.URL.Path = "/v1/" + r.URL.Path
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	main, err := New(Config{BaseURL: srv.URL})
	ruletest.Must(t, err)
	t.Cleanup(main.Close)
	h := &harbour{t: t, now: time.Unix(1e9, 0)}
	h.Fleet = NewFleet(FleetConfig{Main: main, Metrics: telemetry.New(), Now: h.clock,
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(h.Close)
	set := *ruletest.Shipped(t)
	set.Upstreams = []ruleset.Upstream{{Name: ruleset.Main}}
	for _, name := range []string{"p", "q"} {
		set.Upstreams = append(set.Upstreams, ruleset.Upstream{Name: name, URL: srv.URL + "/" + name})
	}
	set.Models = set.Models[:1:1]
	h.model = set.Models[0]
	for _, name := range order {
		h.model.Upstreams = append(h.model.Upstreams, rulefile.Text{Value: name})
	}
	set.Models = []ruleset.Model{h.model}
	h.set = &set
	return h
}

func (h *harbour) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *harbour) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// ask sends a request of a session; those servers in down fail. It gives those that were asked.
func (h *harbour) ask(session, down string) string {
	h.t.Helper()
	r, err := h.Route(h.set, h.model, session)
	ruletest.Must(h.t, err)
	var asked []string
	for {
		if r.Enter(h.t.Context()) {
			asked = append(asked, r.Name())
			if !strings.Contains(down, r.Name()) {
				r.Ended(Served, "")
				return strings.Join(asked, " ")
			}
			r.Ended(Failed, "x")
		}
		if !r.Next() {
			return strings.Join(append(asked, "-"), " ")
		}
	}
}

func TestOrder(t *testing.T) {
	for _, row := range []struct {
		order string
		steps string // a session, the servers that are down; + is a minute
		want  string // who is asked, one after the other; - where none is left
	}{
		{"main p", "x: ; x:", "main; main"},
		{"p main", "x: ; y:", "p; p"},
		{"main p q", ":main; :main; :main; :main", "main p; main p; main p; p"},
		{"main p q", ":mainp; :mainp; :mainp; :mainp", "main p q; main p q; main p q; q"},
		// no circuit tells one from the other
		{"main p", ":mainp; :mainp; :mainp; :mainp", "main p -; main p -; main p -; main p -"},
		{"main p", ":mainp; :mainp; :mainp; :main; :", "main p -; main p -; main p -; main p; p"},
		{"main p", "x:main; x: ; y:", "main p; p; main"}, // x stays, and y begins at the first
		{"main p q", "x:mainp; x: ; x:q; x:", "main p q; q; q main; main"},
		// the trial fails
		{"main p", ":main; :main; :main; + ; :main; :", "main p; main p; main p; ; main p; p"},
		{"main p", ":main; :main; :main; + ; : ; :main", "main p; main p; main p; ; main; main p"},
		{"main p", "x:main; x: ; x:p; x:p; x:p; x:", "main p; p; p main; main; main; main"},
		// the only one is always asked
		{"main", ":main; :main; :main; :main; :", "main -; main -; main -; main -; main"},
	} {
		h := newHarbour(t, strings.Fields(row.order)...)
		if row.order == "main" {
			h.model.Upstreams = nil
		}
		var got []string
		for _, step := range strings.Split(row.steps, ";") {
			step = strings.TrimSpace(step)
			if step == "+" {
				h.later(time.Minute)
				got = append(got, "")
				continue
			}
			session, down, _ := strings.Cut(step, ":")
			got = append(got, h.ask(session, strings.TrimSpace(down)))
		}
		if s := strings.Join(got, "; "); s != row.want {
			t.Errorf("%s, %s:\n %s, want\n %s", row.order, row.steps, s, row.want)
		}
	}
}

// Of all who ask at once, one finds out whether a server is back.
func TestOneTrial(t *testing.T) {
	h := newHarbour(t, "main", "p")
	for range 3 {
		h.ask("", "main")
	}
	h.later(time.Minute)
	var all sync.WaitGroup
	var mu sync.Mutex
	var routes []*Route
	for range 20 {
		all.Go(func() {
			r, err := h.Route(h.set, h.model, "")
			if err != nil {
				t.Error(err)
				return
			}
			if !r.Enter(t.Context()) && (!r.Next() || !r.Enter(t.Context())) {
				t.Error("nobody lets it in")
				return
			}
			mu.Lock()
			defer mu.Unlock()
			routes = append(routes, r)
		})
	}
	all.Wait()
	trials := 0
	for _, r := range routes {
		if r.Name() == "main" {
			trials++
		}
		r.Ended(Canceled, "")
		r.Ended(Failed, "told twice") // counts for nothing
	}
	if trials != 1 {
		t.Errorf("%d trials", trials)
	}
	if got := h.ask("", ""); got != "main" {
		t.Errorf("%s: the trial was not given back", got)
	}
}

// A server that may be back, but does not list its models, gets no request of a caller.
func TestTrialLooksFirst(t *testing.T) {
	var asked []string
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(gone.Close)
	h := newHarbour(t, "p", "main")
	h.set.Upstreams[1].URL = gone.URL
	for range 3 {
		h.ask("", "p")
	}
	h.later(time.Minute)
	if got := h.ask("", ""); got != "main" || len(asked) != 1 || asked[0] != "/v1/models" {
		t.Errorf("%s %v", got, asked)
	}
	if s := h.States(h.set); s[0].Name != "p" || s[0].State != "open" || s[0].Failures != 4 {
		t.Errorf("%+v", s)
	}
}

// However a URL is spelled, it is the same server; and only its name leaves.
func TestOneServerByURL(t *testing.T) {
	h := newHarbour(t, "p", "main")
	own := ruleset.Model{ID: rulefile.Text{Value: "mine"},
		Upstream: rulefile.Text{Value: h.set.Upstreams[2].URL + "/v1/"}}
	same := ruleset.Model{ID: rulefile.Text{Value: "same"}, Upstream: rulefile.Text{Value: h.Main.Base()}}
	h.set.Models = append(h.set.Models, own, same)
	var names []string
	for _, s := range h.States(h.set) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, ", "); got != "p, main, of mine" {
		t.Error(got)
	}
	r, err := h.Route(h.set, same, "")
	if err != nil || r.Client() != h.Main || r.Name() != "main" {
		t.Errorf("%v %+v", err, r)
	}
	h.set.Upstreams[1].URL = h.Main.Base()
	if r, err := h.Route(h.set, h.model, ""); err != nil || r.Several() || r.Name() != "main" {
		t.Errorf("%v %+v: two names of one server are no choice", err, r)
	}
	if _, err := h.Route(h.set, ruleset.Model{Upstream: rulefile.Text{Value: "ftp://x"}}, ""); err == nil {
		t.Error("no error")
	}
}

// Where sessions live is forgotten when there are too many.
func TestHomesAreBounded(t *testing.T) {
	h := newHarbour(t, "main", "p")
	for i := range maxHomes + 100 {
		h.ask(fmt.Sprint("s", i), "")
	}
	if n := h.homes.Len(); n != maxHomes {
		t.Errorf("%d homes", n)
	}
}

func TestKeys(t *testing.T) {
	keys, err := ParseKeys("# mine\nhttp://gpu.lan:8000 sk-1\n\n  https://b/v1/  sk-2 \n")
	if err != nil || keys.key("http://gpu.lan:8000/v1/") != "sk-1" || keys.key("https://b") != "sk-2" ||
		keys.key("http://b") != "" || keys.key("") != "" {
		t.Errorf("%v %v", keys, err)
	}
	for text, want := range map[string]string{
		"http://a":                        "line 1 has 1 words",
		"\nhttp://a k more":               "line 2 has 3 words",
		"secret http://a":                 "line 1: the base URL comes first",
		"ftp://a secret":                  "want http://HOST:PORT/v1",
		"http://a k\nhttp://a/v1 secret":  "line 2: this server has a key already",
		"http://127.0.0.1:8000/v1 secret": "its key is upstream_key",
	} {
		_, err := OtherKeys(config.Settings{Upstream: "http://127.0.0.1:8000", UpstreamKeys: text})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each server gets its own key: the URL decides, however the rules spell it.
func TestConfigOf(t *testing.T) {
	s := config.Settings{Upstream: "http://a", UpstreamKey: "key-a", Server: "vllm",
		UpstreamKeys: "http://b/v1 key-b"}
	for url, want := range map[string]string{"": "key-a vllm", "http://a/v1/": "key-a vllm",
		"http://b": "key-b ", "http://a.b": " ", "http://a:8000": " ", "https://a": " ", "http://b/c": " "} {
		c, err := ConfigOf(s, ruleset.Upstream{URL: url})
		if got := c.Key + " " + c.Server; err != nil || got != want {
			t.Errorf("%q: %q %v", url, got, err)
		}
	}
	h := newHarbour(t, "main", "p")
	if hosts := (FleetKeys{"http://b:1/v1": "k",
		h.set.Upstreams[1].URL + "/v1": "k"}).Unused(h.set); len(hosts) != 1 || hosts[0] != "b:1" {
		t.Error(hosts)
	}
}

// Whatever stands in the file of keys, an error repeats no key.
func FuzzParseKeys(f *testing.F) {
	f.Add("http://a k\n# b\nhttps://b/v1 k2")
	f.Add("k http://a")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ParseKeys(text)
		if (keys == nil) == (err == nil) {
			t.Fatalf("%v, %v", keys, err)
		}
		for base, key := range keys {
			if again, err := Base(base); err != nil || again != base || key == "" ||
				strings.ContainsAny(key, " \n") {
				t.Errorf("%q %q: %q %v", base, key, again, err)
			}
		}
	})
}
