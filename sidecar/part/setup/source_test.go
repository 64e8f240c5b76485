package setup

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// ask is a client that keeps no connections.
func ask(t *testing.T, h http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Client(), strings.TrimPrefix(s.URL, "http://")
}

func TestFromServer(t *testing.T) {
	m := telemetry.New()
	count := func(n float64) { m.Tokens.WithLabelValues("gpt-oss", "prompt").Add(n) }
	count(100)
	asked := 0
	client, at := ask(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 3 {
			count(7) // between the two pages of the second question
		}
		m.Handler().ServeHTTP(w, r)
	})
	u, err := FromServer(t.Context(), client, at, 0, time.Now)
	if err != nil || u.All().Prompt != 100 || u.Hours <= 0 || u.Hours > 1 ||
		!strings.Contains(u.From, "since its start") {
		t.Errorf("since its start: %+v, %v", u, err)
	}
	if u, err = FromServer(t.Context(), client, at, time.Millisecond, time.Now); err != nil ||
		u.All().Prompt != 7 || u.Hours <= 0 {
		t.Errorf("from now on: %+v, %v", u, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := FromServer(gone, client, at, 0, time.Now); err == nil {
		t.Error("nobody waits, and there is no error")
	}
}

// A server that was started anew has counters that are no span.
func TestFromServerAnew(t *testing.T) {
	const counted = `gptoss_executor_tokens_total{model="a",kind="prompt"} `
	for name, pages := range map[string][2]string{
		"another start": {counted + "5\nprocess_start_time_seconds 1\n",
			counted + "5\nprocess_start_time_seconds 2\n"},
		"no start is told, fewer tokens are":  {counted + "5\n", counted + "4\n"},
		"no start is told, and no tokens are": {counted + "5\n", "gptoss_executor_open_streams 1\n"},
	} {
		client, at := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, pages[0])
			pages[0] = pages[1]
		})
		if _, err := FromServer(t.Context(), client, at, time.Millisecond, time.Now); err == nil ||
			!strings.Contains(err.Error(), "anew") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// How long a server has counted is a matter of its own clock, or not known; it is never below 0.
func TestFromServerWithAnotherClock(t *testing.T) {
	ahead := time.Now().Add(3 * time.Hour)
	for date, want := range map[string]float64{ahead.UTC().Format(http.TimeFormat): 2, "": 0} {
		client, at := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = []string{date}
			fmt.Fprintf(w, "gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"} 5\nprocess_start_time_seconds %d\n", ahead.Add(-2*time.Hour).Unix())
		})
		u, err := FromServer(t.Context(), client, at, 0, time.Now)
		if err != nil || math.Abs(u.Hours-want) > .01 {
			t.Errorf("%q: %+v, %v", date, u, err)
		}
		if _, err = Of(u, Own{PerHour: 1}, nil); (err == nil) != (want > 0) || err != nil &&
			!strings.Contains(err.Error(), "--hours") {
			t.Errorf("%q: %v", date, err)
		}
	}
}

// A password that stands in an address is sent, and shown nowhere.
func TestPasswordIsNotShown(t *testing.T) {
	sent := 0
	client, at := ask(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == "hunter2" {
			sent++
		}
		fmt.Fprint(w, "gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"} 5\n")
	})
	for _, to := range []string{"http://sam:hunter2@" + at, "http://sam:hunter2@127.0.0.1:1",
		"ftp://sam:hunter2@x", "http://sam:hunter2@a b"} {
		for _, over := range []time.Duration{0, time.Millisecond} {
			u, err := FromServer(t.Context(), client, to, over, time.Now)
			if said := fmt.Sprint(u.From, err); strings.Contains(said, "hunter2") {
				t.Errorf("%s", said)
			}
		}
		if _, err := FromPrometheus(t.Context(), client, to, time.Hour); err == nil ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
	if sent != 4 {
		t.Errorf("the password came %d times", sent)
	}
}

func TestFromServerRefuses(t *testing.T) {
	client, at := ask(t, func(w http.ResponseWriter,
		_ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	})
	for to, want := range map[string]string{at: "403", "ftp://x": "no address", "http://": "no address",
		"a b": "no address"} {
		if _, err := FromServer(t.Context(), client, to, 0, time.Now); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestFromPrometheus(t *testing.T) {
	const now = 2_000_000_000
	tokens := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"model":"a","kind":"prompt"},"value":[1,"1000"]},{"metric":{"model":"a","kind":"completion"},"value":[1,"10.5"]}]}}`
	for _, c := range []struct {
		name, first, counts string
		hours               float64
		want                string
	}{
		{"it knows all of the span", fmt.Sprint(now - 24*60*60), tokens, 24, ""},
		{"it knows an hour of it", fmt.Sprint(now - 60*60), tokens, 1, ""},
		{"it has just begun", "", tokens, 0, ""},
		{"another server", "1", `{"ok": true}`, 0, "no answer of Prometheus"},
		{"no JSON", "1", `hello`, 0, "no answer of Prometheus"},
		{"no number", "1", strings.Replace(tokens, `"1000"`, `"NaN"`, 1), 0, "no number"},
		{"a number that is no text", "1", strings.Replace(tokens, `"1000"`, `1000`, 1), 0, "no number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, at := ask(t, func(w http.ResponseWriter, r *http.Request) {
				switch q := r.URL.Query().Get("query"); {
				case r.URL.Path != "/api/v1/query":
					t.Errorf("asked for %s", r.URL)
				case strings.Contains(q, "timestamp("):
					result := ""
					if c.first != "" {
						result = fmt.Sprintf(`{"metric":{},"value":[%d,"%s"]}`, now, c.first)
					}
					fmt.Fprintf(w, `{"status":"success","data":{"result":[%s]}}`, result)
				case q != "sum by (model, kind) (increase(gptoss_executor_tokens_total[86400s]))":
					t.Errorf("asked %s", q)
				default:
					fmt.Fprint(w, c.counts)
				}
			})
			u, err := FromPrometheus(t.Context(), client, at, 24*time.Hour)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatal(err)
			}
			if err == nil && (u.Hours != c.hours || u.All() != Tokens{Prompt: 1000, Completion: 10.5}) {
				t.Errorf("%+v", u)
			}
			if err == nil && (c.hours < 24) != strings.Contains(u.From, "knows no more") {
				t.Errorf("it says %s", u.From)
			}
		})
	}
	if _, err := FromPrometheus(t.Context(), http.DefaultClient, "127.0.0.1:1", 0); err == nil ||
		!strings.Contains(err.Error(), "--over") {
		t.Errorf("no span: %v", err)
	}
}
