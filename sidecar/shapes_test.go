package sidecar_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What servers and gateways are known to send, all of it readable: one line for each shape.
func TestShapesOfReplies(t *testing.T) {
	const (
		finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` +
			"\n\n" + provider.DoneEvent
		count = `"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`
	)
	delta := func(s string) string { return `data: {"choices":[{"index":0,"delta":{` + s + `}}]}` + "\n\n" }
	piece := func(index, id, name, args string) string {
		var m []string
		for _, p := range [][2]string{{"index", index}, {"id", id}} {
			if p[1] != "" {
				m = append(m, fmt.Sprintf("%q:%s", p[0], p[1]))
			}
		}
		f := []string{fmt.Sprintf(`"arguments":%q`, args)}
		if name != "" {
			f = append(f, fmt.Sprintf(`"name":%q`, name))
		}
		return `{` + strings.Join(append(m, `"type":"function","function":{`+strings.Join(f, ",")+`}`), ",") +
			`}`
	}
	calls := func(pieces ...string) string {
		return delta(`"tool_calls":[` + strings.Join(pieces, ",") + `]`)
	}
	a, b := `{"path":"a"}`, `{"path":"b"}`
	both := "read " + a + " read " + b
	text := delta(`"role":"assistant","content":"Größe 🙂 "`) + delta(`"content":"and all."`) +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	const said = "Größe 🙂 and all."
	for name, row := range map[string]struct {
		body, text, calls string
		usage             int
		slow              bool // it comes byte by byte
	}{
		"usage with no choices":   {body: text + `data: {"choices":[],` + count + "}\n\n" + provider.DoneEvent, text: said, usage: 12},
		"usage with null choices": {body: text + `data: {"choices":null,` + count + "}\n\n" + provider.DoneEvent, text: said, usage: 12},
		"usage without choices":   {body: text + `data: {` + count + "}\n\n" + provider.DoneEvent, text: said, usage: 12},
		"all calls at index 0": {body: calls(piece("0", `"c1"`, "read", a)) + calls(piece("0",
			`"c2"`, "read", b)) + finish, calls: both},
		"the same in pieces": {body: calls(piece("0", `"c1"`, "read",
			`{"pa`)) + calls(piece("0", "", "", `th":"a"}`)) + calls(piece("0", `"c2"`, "read",
			`{"path"`)) + calls(piece("0", "", "", `:"b"}`)) + finish, calls: both},
		"the same without ids": {body: calls(piece("0", "", "read", a)) + calls(piece("0", "",
			"read", b)) + finish, calls: both},
		"no index": {body: calls(piece("", `"c1"`, "read", a),
			piece("", `"c2"`, "read", b)) + finish, calls: both},
		"null index": {body: calls(piece("null", `"c1"`, "read", a),
			piece("null", `"c2"`, "read", b)) + finish, calls: both},
		"index as text": {body: calls(piece(`"0"`, `"c1"`, "read", a),
			piece(`"1"`, `"c2"`, "read", b)) + finish, calls: both},
		"index from 1": {body: calls(piece("1", `"c1"`, "read", a)) + calls(piece("2",
			`"c2"`, "read", b)) + finish, calls: both},
		"interleaved": {body: calls(piece("0", `"c1"`, "read",
			`{"path":`)) + calls(piece("1", `"c2"`, "read", `{"path":`)) + calls(piece("0", "", "",
			`"a"}`)) + calls(piece("1", "", "", `"b"}`)) + finish, calls: both},
		"two ends": {body: calls(piece("0", `"c1"`, "read",
			a)) + strings.TrimSuffix(finish, provider.DoneEvent) + finish, calls: "read " + a},
		"the header in each piece": {body: calls(piece("0", `"c1"`, "read",
			`{"path":`)) + calls(piece("0", `"c1"`, "read", `"a"}`)) + finish, calls: "read " + a},
		"cumulative arguments": {body: calls(piece("0", `"c1"`, "read",
			`{"path":`)) + calls(piece("0", `"c1"`, "read", a)) + finish, calls: "read " + a},
		"byte by byte": {body: text + provider.DoneEvent, text: said, slow: true},
		"comments between": {body: ": ping\n\n" + strings.ReplaceAll(text, "\n\n",
			"\n\n: ping\n\n") + provider.DoneEvent, text: said},
		"CRLF": {body: strings.ReplaceAll(text+provider.DoneEvent, "\n", "\r\n"),
			text: said},
		"id and retry": {body: strings.ReplaceAll(text+provider.DoneEvent, "data: ",
			"id: 7\nretry: 10\ndata: "), text: said},
		"no end mark": {body: text, text: said},
		"many events in one write": {body: strings.Repeat(delta(`"content":"x "`),
			2000) + text + provider.DoneEvent, text: strings.Repeat("x ", 2000) + said},
		"SSE though a document was asked for": {body: text + provider.DoneEvent, text: said},
	} {
		t.Run(name, func(t *testing.T) {
			r := provider.Start(t, provider.Setup{Server: "vllm"},
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", provider.SSE)
					if !row.slow {
						io.WriteString(w, row.body)
						return
					}
					for i := range len(row.body) {
						io.WriteString(w, row.body[i:i+1])
						_ = http.NewResponseController(w).Flush()
					}
				}))
			for _, a := range []*provider.Answer{r.Stream(), r.Whole()} {
				got := ""
				for _, c := range a.Calls {
					got += " " + c.Name + " " + c.Args
				}
				if strings.TrimSpace(got) != row.calls || a.Text != row.text || a.Usage != row.usage ||
					a.Fault.Message != "" {
					t.Errorf("%q, %.200q, usage %d: %.2000s", got, a.Text, a.Usage, a.Body)
				}
			}
			if row.usage > 0 {
				a := r.Ask(http.MethodPost, "/v1/responses", `{"model":"gpt-oss","input":"go"}`)
				if gjson.Get(a.Body, "usage.total_tokens").Int() != 12 {
					t.Errorf("Responses: %s", a.Body)
				}
			}
		})
	}
}

// An error that stands in a stream with status 200 is no empty success, however it is written and wherever it
// stands.
func TestErrorsInStreams(t *testing.T) {
	half := provider.Piece(0, `"role":"assistant","content":"Half"`, "null")
	for _, failed := range []string{
		`data: {"error":{"message":"out of memory"}}`, `data: {"error":"out of memory"}`,
		"event: error\ndata: {\"message\":\"out of memory\"}", `data: {"object":"error","message":"out of memory","code":500}`,
	} {
		for _, before := range []string{"", half} {
			r := provider.Start(t, provider.Setup{Server: "vllm", RoleWait: time.Minute},
				provider.Says(provider.SSE, before+failed+"\n\n"+provider.DoneEvent))
			for _, mode := range []string{"stream", "whole"} {
				a := r.Plain(mode)
				if a.Fault.Code != "upstream_error" || !strings.Contains(a.Fault.Message, "out of memory") ||
					a.Done || a.Status == 200 && (mode == "whole" || before == "") {
					t.Errorf("%s behind %q, %s: %d %s", failed, before, mode, a.Status, a.Body)
				}
			}
		}
	}
}

// However a server says when to come back, the caller gets seconds.
func TestRetryAfter(t *testing.T) {
	for said, want := range map[string][2]int{
		"7": {7, 7}, "7.5": {7, 8}, time.Now().Add(50 * time.Second).UTC().Format(http.TimeFormat): {40, 51}, "-3": {5, 5}, "soon": {5, 5}, "": {5, 5},
	} {
		busy := script.Fail(http.StatusTooManyRequests, "slow down")
		busy.Retry = said
		r := provider.Start(t, provider.Setup{}, script.New(script.Scenario{Steps: []script.Reply{busy}, Loop: true}))
		a := r.Plain("whole")
		if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < want[0] || n > want[1] ||
			a.Status != http.StatusTooManyRequests {
			t.Errorf("%q: %d %q", said, a.Status, a.Header.Get("Retry-After"))
		}
	}
}

// The efforts of other models become those of gpt-oss.
func TestEfforts(t *testing.T) {
	for asked, want := range map[string]string{"none": "low", "minimal": "low", "low": "low",
		"medium": "medium", "high": "high", "xhigh": "high", "max": "high"} {
		r := provider.Play(t, script.Text("Yes."))
		r.Chat(provider.Body(fmt.Sprintf(`"reasoning_effort":%q`, asked)))
		if got := gjson.GetBytes(r.Model.Requests("")[0].Body, "reasoning_effort").Str; got != want {
			t.Errorf("%s became %q", asked, got)
		}
	}
}
