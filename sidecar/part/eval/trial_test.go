package eval

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
)

func TestDrawsSurviveAMessage(t *testing.T) {
	for _, d := range []Draw{
		{Seed: 17, Options: noise.Options{Chain: 1}},
		{Seed: 1<<64 - 1, Options: noise.Options{Chain: -1, Negatives: true}},
		{Options: noise.Options{Chain: 2, Only: []string{"spell-html", "name-upper"}, Without: []string{"cut-length"}}},
	} {
		got, ok, err := FindDraw("Hello [noise 3 chain=0] "+d.String()+" please.", nil)
		if !ok || err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%s: %+v %v %v", d, got, ok, err)
		}
	}
	for text, want := range map[string]string{
		"[noise 1 only=nope]": `operator "nope"`, "[noise 1 chain=9]": "chain of 9",
		"[noise 1 size=3]":             `"size=3": write chain=`,
		"[noise 99999999999999999999]": "too large",
	} {
		if _, ok, err := FindDraw(text, nil); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, ok, _ := FindDraw("a noise [noise]", nil); ok {
		t.Error("a draw in plain text")
	}
}

// Undamaged calls arrive whole over HTTP, streamed or not, where nothing stands between; a
// server that parses its own replies gives them as native calls.
func TestNothingBetween(t *testing.T) {
	defer goleak.VerifyNone(t)
	server := httptest.NewServer(Server(nil))
	defer server.Close()
	defer server.Client().CloseIdleConnections()
	for _, stream := range []bool{false, true} {
		target := Target{URL: server.URL + "/v1/", Model: Model, Stream: stream}
		found, err := target.Run(t.Context(), 1, 200, noise.Options{})
		if err != nil {
			t.Fatal(err)
		}
		native := found.Table["all"]
		if native.Recovered == 0 || native.WrongValue+native.WrongName > 0 || len(found.Failed) > 0 {
			t.Errorf("stream %v: %+v, failed %v", stream, native, found.Failed)
		}
		same := noise.Measure(1, 200, noise.Options{}, func(c noise.Case) noise.Got {
			got := noise.Got{Content: c.Content, Reasoning: c.Thoughts}
			for _, n := range c.Native {
				got.Calls = append(got.Calls, noise.GotCall{Name: n.Name, Args: json.RawMessage(n.Args)})
			}
			return got
		})
		if !reflect.DeepEqual(found.Table, same) {
			t.Errorf("stream %v: over HTTP %+v, drawn %+v", stream, found.Table["all"], same["all"])
		}
	}
}

// A reply that cannot be read is counted, and the trial goes on.
func TestFailuresAreCounted(t *testing.T) {
	defer goleak.VerifyNone(t)
	server := httptest.NewServer(Server(nil))
	defer server.Close()
	defer server.Client().CloseIdleConnections()
	found, err := Target{URL: server.URL + "/nowhere"}.Run(t.Context(), 1, 5, noise.Options{})
	if err != nil || found.Unread() != 5 {
		t.Errorf("%v, failed %v", err, found.Failed)
	}
	var out strings.Builder
	if err := found.Write(&out, nil); err != nil ||
		!strings.Contains(out.String(), "not read 5: status 404") {
		t.Errorf("%v\n%s", err, out.String())
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Target{URL: server.URL + "/v1"}).Run(stopped, 1, 5, noise.Options{}); err == nil {
		t.Error("a trial that was stopped says nothing")
	}
}

// Asked again, the model says what it meant.
func TestAskedAgain(t *testing.T) {
	server := httptest.NewServer(Server(nil))
	defer server.Close()
	for messages, want := range map[string]string{
		`[{"role":"user","content":"[noise 5 chain=1 only=spell-square]"}]`:                                                                               "[start]",
		`[{"role":"user","content":"[noise 5 chain=1 only=spell-square]"},{"role":"assistant","content":"x"},{"role":"user","content":"Call it again."}]`: `"finish_reason":"tool_calls"`,
		`[{"role":"user","content":"Hi"}]`:            "no user message names a case",
		`[{"role":"user","content":"[noise 5 x=1]"}]`: `\"x=1\": write chain=`,
	} {
		res, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"messages":`+messages+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var doc json.RawMessage
		if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(doc))
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s", messages, text)
		}
	}
}

// A line is what explain reads, with the truth beside it.
func TestLine(t *testing.T) {
	line, err := Line(noise.New(3, noise.Options{Chain: 1}))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		ID      uint64
		Tools   []struct{ Function struct{ Name string } }
		Message struct{ Content *string }
		Finish  string `json:"finish_reason"`
		Truth   []struct{ Name, Class, Standing string }
	}
	if err := json.Unmarshal(line, &doc); err != nil || doc.ID != 3 || len(doc.Tools) == 0 ||
		doc.Message.Content == nil || doc.Finish == "" || len(doc.Truth) == 0 || doc.Truth[0].Standing == "" {
		t.Errorf("%v\n%s", err, line)
	}
}

// A server that never answers ends no trial, and holds none up.
func TestSilentServerIsCounted(t *testing.T) {
	defer goleak.VerifyNone(t)
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	defer server.Close()
	defer close(held)
	for _, stream := range []bool{false, true} {
		found, err := Target{URL: server.URL + "/v1", Stream: stream,
			Timeout: 20 * time.Millisecond}.Run(t.Context(), 1, 3, noise.Options{})
		if err != nil || found.Unread() != 3 {
			t.Errorf("%v, failed %v", err, found.Failed)
		}
	}
}
