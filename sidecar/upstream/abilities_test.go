package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// wound is a clock that a test turns on.
type wound struct{ past atomic.Int64 }

func (w *wound) now() time.Time      { return time.Unix(0, w.past.Load()) }
func (w *wound) on(by time.Duration) { w.past.Add(int64(by)) }
func saying(content, finish string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":%q}]}`, content, finish)
}

// What comes of the trial, by what the server says; and when it is tried again.
func TestObeys(t *testing.T) {
	set := ruletest.Shipped(t)
	set.Limits.Retries = 0
	for _, row := range []struct {
		name   string
		status int
		body   string
		obeys  bool
		again  time.Duration // when it is asked the next time; 0: never
	}{
		{"the only answer", 200, saying(`{"verdict": "heron-4127"}`, "stop"), true, 0},
		{"blanks around it", 200, saying("\n{\n \"verdict\":\"heron-4127\"}\n", "stop"), true, 0},
		{"a greeting", 200, saying("Hello!", "stop"), false, seenFor},
		{"other JSON", 200, saying(`{"verdict": "hello"}`, "stop"), false, seenFor},
		{"the word alone", 200, saying("heron-4127", "stop"), false, seenFor},
		{"nothing", 200, saying("", "stop"), false, seenFor},
		{"thoughts up to the limit", 200, saying("", "length"), false, doubtFor},
		{"a field that it refuses", 400, `{"error":{"message":"response_format is not known"}}`, false, seenFor},
		{"a server that fails", 500, `{"error":{"message":"out of memory"}}`, false, doubtFor},
		{"a server that is busy", 429, `{"error":{"message":"later"}}`, false, doubtFor},
	} {
		t.Run(row.name, func(t *testing.T) {
			var asked atomic.Int32
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(row.status)
				io.WriteString(w, row.body)
			})
			clock := &wound{}
			c.abilities = newAbilities(clock.now)
			m := ruleset.Model{Name: "gpt-oss"}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if got := c.FollowsSchema(t.Context(), set, set.Server("vllm"), m); got != row.obeys {
						t.Errorf("it follows: %v", got)
					}
				})
			}
			all.Wait()
			if n := asked.Load(); n != 1 {
				t.Errorf("eight callers asked %d times", n)
			}
			wait := row.again
			if wait == 0 {
				wait = 100 * seenFor
			}
			clock.on(wait - 1)
			c.FollowsSchema(t.Context(), set, set.Server("vllm"), m)
			if n := asked.Load(); n != 1 {
				t.Errorf("it was asked again too early")
			}
			clock.on(1)
			c.FollowsSchema(t.Context(), set, set.Server("vllm"), m)
			if n := asked.Load(); (n == 2) != (row.again > 0) {
				t.Errorf("then it was asked %d times", n)
			}
		})
	}
}

// A caller that leaves waits no longer, and the trial goes on for the others.
func TestObeysLeft(t *testing.T) {
	set, answer := ruletest.Shipped(t), make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		io.WriteString(w, saying(`{"verdict": "heron-4127"}`, "stop"))
	})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if c.FollowsSchema(ctx, set, set.Server("vllm"), ruleset.Model{Name: "m"}) {
		t.Error("it follows, and has not answered")
	}
	close(answer)
	if !c.FollowsSchema(t.Context(), set, set.Server("vllm"), ruleset.Model{Name: "m"}) {
		t.Error("the trial did not go on")
	}
	if got := c.Learnt(); !slices.Equal(got, []string{"m follows a JSON Schema"}) {
		t.Errorf("learnt is %q", got)
	}
	c.IgnoresSchema(set.Server("vllm"), ruleset.Model{Name: "m"})
	if c.FollowsSchema(t.Context(), set, set.Server("vllm"), ruleset.Model{Name: "m"}) {
		t.Error("it is relied upon after a reply that did not follow")
	}
}

func TestRefused(t *testing.T) {
	c, clock := client(t, "http://127.0.0.1:1"), &wound{}
	c.abilities = newAbilities(clock.now)
	c.Refused("small", "tools")
	c.AteHeader()
	if c.Takes("small", "tools") || !c.Takes("large", "tools") || !c.Takes("small", "strict") {
		t.Error("not what was seen")
	}
	if got := c.Learnt(); len(got) != 2 || got[1] != "small refuses tools" {
		t.Errorf("learnt is %q", got)
	}
	if clock.on(seenFor); !c.Takes("small", "tools") || len(c.Learnt()) != 1 {
		t.Error("it is not tried again")
	}
}

// The schema stands where the server looks for it, and nowhere else.
func TestSchemaField(t *testing.T) {
	const schema = `{"type":"object"}`
	for field, want := range map[string]string{
		"":                        "response_format.json_schema.schema",
		"guided_json":             "guided_json",
		"structured_outputs.json": "structured_outputs.json",
	} {
		q, err := openai.ParseRequest([]byte(`{"model":"m","messages":[{"role":"user","content":"go"}],"response_format":{"type":"text"}}`))
		if err == nil {
			q, err = WithSchema(q, []byte(schema))
		}
		if err != nil {
			t.Fatal(err)
		}
		srv := &ruleset.Server{Structured: field}
		body := openai.Apply(q.Body, Prepare(q, srv, ruleset.Model{}, Memory{}, nil))
		if got := gjson.GetBytes(body, want).Raw; got != schema || field != "" &&
			strings.Contains(string(body), "response_format") {
			t.Errorf("%s: %s", field, body)
		}
	}
}
