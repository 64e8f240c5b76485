package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// aKey is a token that nobody was ever given.
const aKey = "ghp_" + "Zx81kQmR27LvTn04PwYc93HsBd65JfGa1e2U"

// written puts a reply and gives the line.
func lineOf(t testing.TB, rule captureRule, r captureReply) (string, *CaptureRecord) {
	t.Helper()
	line, err := new(intake).own(rule.filled(), r).line(newOffered())
	ruletest.Must(t, err)
	rec, ok := recordOf(line)
	if !ok || strings.Count(string(line), "\n") != 1 {
		t.Fatalf("no record: %.300s", line)
	}
	return string(line), rec
}

// Wherever a secret stands, it is not written, and what was JSON is JSON still.
func TestSecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	arguments := `{"command":"curl -H 'Authorization: Bearer ` + aKey + `'","password":"hunter22"}`
	for name, put := range map[string]func(*captureReply){
		"content":         func(r *captureReply) { r.Content = "The key is " + aKey + ", keep it." },
		"content as JSON": func(r *captureReply) { r.Content = arguments },
		"a call in prose": func(r *captureReply) { r.Content = "Now: {\"name\":\"exec\",\"arguments\":" + arguments + "}" },
		"reasoning":       func(r *captureReply) { r.Reasoning = "password=" + "hunter22, then " + aKey },
		"arguments":       func(r *captureReply) { r.Calls = []ServerCall{{"c", "exec", arguments}} },
		"broken arguments": func(r *captureReply) {
			r.Calls = []ServerCall{{"c", "exec", arguments[:len(arguments)-1]}}
		},
		"what was read": func(r *captureReply) {
			r.Reading.Calls = []Call{{Name: "exec", Arguments: json.RawMessage(arguments)}}
		},
		"content, as read": func(r *captureReply) { r.Reading.Content = aKey },
		"shadow": func(r *captureReply) {
			r.Shadow = &shadowOutcome{"a/b",
				captureReading{Calls: []Call{{Name: "exec", Arguments: json.RawMessage(arguments)}}, Reasoning: aKey}}
		},
		"refusal": func(r *captureReply) { r.Reading.Refused = []refusal{{"denied", aKey, "it sends " + aKey}} },
		"messages": func(r *captureReply) {
			r.Messages = json.RawMessage(`[{"role":"user","content":"` + aKey +
				`"},{"tool_calls":[` + arguments + `]}]`)
		},
		"the last message": func(r *captureReply) { r.User = aKey },
		"tools": func(r *captureReply) {
			r.Tools = []tools.Tool{{Name: "x", Parameters: json.RawMessage(`{"default":"` + aKey + `"}`)}}
		},
		"session": func(r *captureReply) { r.Session = aKey },
		"where it was cut": func(r *captureReply) {
			r.Content = strings.Repeat("a ", (maxText-10)/2) + aKey + strings.Repeat(" b", maxText)
		},
		"where it was held": func(r *captureReply) {
			r.Content = strings.Repeat("a ", (held-20)/2) + aKey + strings.Repeat(" b", maxText)
		},
	} {
		r := sample("r", time.Now())
		put(&r)
		line, rec := lineOf(t, captureRule{Mask: true, Messages: true}, r)
		for _, secret := range []string{aKey, aKey[:12], "hunter22"} {
			if i := strings.Index(line, secret); i >= 0 {
				t.Errorf("%s: %q is written: …%s", name, secret, line[max(0, i-40):min(len(line), i+40)])
			}
		}
		if rec.Masked == 0 && !strings.HasPrefix(name, "where") {
			t.Errorf("%s: nothing says that a secret was masked", name)
		}
		for _, text := range []string{r.Content, rec.Message.Content} {
			if strings.HasPrefix(text, "{") && !json.Valid([]byte(text)) {
				t.Errorf("%s: no JSON any more: %s", name, text)
			}
		}
		if name == "arguments" && !json.Valid([]byte(rec.Message.Calls[0].Function.Arguments)) {
			t.Errorf("arguments are no JSON any more: %s", rec.Message.Calls[0].Function.Arguments)
		}
		if open, _ := lineOf(t, captureRule{Messages: true}, r); !strings.Contains(open, aKey[:12]) &&
			!strings.Contains(open, "hunter22") && !strings.HasPrefix(name, "where") {
			t.Errorf("%s: without masking it is not there either, so nothing was tested", name)
		}
	}
}

// What holds no secret is written byte for byte.
func TestUntouched(t *testing.T) {
	r := sample("r", time.Now())
	r.Content, r.Calls = "{ \"b\" : 1.50, \"a\":\"<x>\" } ", []ServerCall{{"c1", "exec",
		`{"z": 1,  "a": "é\u00e9 & <b>"}`}, {"", "exec", `{"broken": `}}
	r.Tools = []tools.Tool{{Name: `a"b`},
		{Name: "read", Parameters: json.RawMessage(`{"required":["path"],"properties":{"password":{"type":"string"}},"type":"object"}`)}}
	_, rec := lineOf(t, captureRule{Mask: true}, r)
	if rec.Message.Content != r.Content || rec.Message.Calls[0].Function.Arguments != r.Calls[0].Arguments ||
		rec.Message.Calls[1].Function.Arguments != r.Calls[1].Arguments {
		t.Errorf("%+v", rec.Message)
	}
	if len(rec.Tools) != 2 || string(rec.Tools[0]) != `{"name":"a\"b"}` ||
		!strings.Contains(string(rec.Tools[1]), string(r.Tools[1].Parameters)) || rec.Masked != 0 {
		t.Errorf("%s", rec.Tools)
	}
	r.Tools = nil
	if line, _ := lineOf(t, captureRule{}, r); !strings.Contains(line, `"tools":[]`) {
		t.Error("no tools were offered, which is not the same as that nobody knows")
	}
}

// However large a reply is, its record is not, and says what is missing.
func TestLarge(t *testing.T) {
	huge := strings.Repeat("many words ", 32<<20/11)
	many := func(n int) (said []ServerCall, made []Call) {
		for range n {
			said, made = append(said, ServerCall{"c", "exec", `{"command":"ls"}`}), append(made,
				Call{Name: "exec", Arguments: json.RawMessage(`{}`)})
		}
		return said, made
	}
	for name, row := range map[string]struct {
		put    func(*captureReply)
		cut    string
		length bool // what is read of it must not be taken for whole
	}{
		"content":   {func(r *captureReply) { r.Content = huge }, "content", true},
		"reasoning": {func(r *captureReply) { r.Reasoning = huge }, "reasoning", true},
		"arguments": {func(r *captureReply) { r.Calls = []ServerCall{{"c", "exec", `{"command":"` + huge + `"}`}} }, "calls", true},
		"read": {func(r *captureReply) {
			r.Reading.Calls = []Call{{Name: "exec", Arguments: json.RawMessage(`"` + huge + `"`)}}
		}, "reading.calls", false},
		"calls": {func(r *captureReply) { r.Calls, r.Reading.Calls = many(1000) }, "calls", true},
		"tools": {func(r *captureReply) {
			r.Tools = []tools.Tool{{Name: "x", Parameters: json.RawMessage(`"` + huge + `"`)}}
		}, "tools", false},
		"messages": {func(r *captureReply) { r.Messages = json.RawMessage(`["` + huge + `"]`) }, "messages", false},
		"control bytes": {func(r *captureReply) {
			r.Content = strings.Repeat("\x01", 1<<20)
			r.Reasoning, r.Reading.Content = r.Content, r.Content+"x"
			r.Reading.Reasoning = r.Reading.Content
		}, "content", true},
		"session": {func(r *captureReply) { r.Session = huge }, "session", false},
	} {
		r := sample("r", time.Now())
		row.put(&r)
		e := new(intake).own(captureRule{Messages: true}.filled(), r)
		if e.size > 3<<20 {
			t.Errorf("%s: %d bytes wait in the queue", name, e.size)
		}
		line, rec := lineOf(t, captureRule{Messages: true, Mask: true}, r)
		if len(line) > maxLine || rec.Cut[row.cut] == 0 || (rec.Finish == "length") != row.length {
			t.Errorf("%s: %d bytes, cut %v, finish %s", name, len(line), rec.Cut, rec.Finish)
		}
		if _, err := rec.Labelled(); (err == nil) != (name == "messages" || name == "session") {
			t.Errorf("%s: promoted: %v", name, err)
		}
	}
}

// A server's call comes in pieces, which only their index ties together.
func TestSaidOf(t *testing.T) {
	got := SaidOf([]parse.CallDelta{{Index: 1, ID: "b", Name: "read"}, {Index: 0, ID: "a", Name: "ex"},
		{Index: 1, ID: "z", Arguments: []byte(`{"a"`)}, {Index: 0, Name: "ec"}, {Index: 1, Arguments: []byte(`:1}`)}})
	if want := []ServerCall{{"b", "read", `{"a":1}`}, {"a", "exec", ""}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// Nothing of a record changes after Put, whatever the caller does with its buffers.
func TestOwn(t *testing.T) {
	body := []byte(`[{"role":"user"}]{"type":"object"}{"command":"ls"}`)
	r := sample("r", time.Now())
	r.Messages, r.Tools[0].Parameters, r.Reading.Calls[0].Arguments = body[:17:17], body[17:34:34], body[34:]
	e := new(intake).own(captureRule{Messages: true}.filled(), r)
	copy(body, strings.Repeat("#", len(body)))
	r.Arms[0], r.Reading.Calls[0].Repairs[0], r.Tools[0].Name = "#", "#", "#"
	line, err := e.line(newOffered())
	if ruletest.Must(t, err); strings.Contains(string(line), "#") {
		t.Errorf("%s", line)
	}
}

// Segments are JSON lines to whoever reads JSON lines.
func TestLinesAreJSON(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, time.Now)
	for range 10 {
		s.Put(captureRule{}, sample("r", time.Now()))
	}
	ruletest.Must(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	ruletest.Must(t, err)
	f, err := os.Open(files[0])
	ruletest.Must(t, err)
	defer f.Close()
	lines := jsontext.Reader{In: f}
	for l := range lines.All() {
		if !json.Valid(l.Text) {
			t.Errorf("%s", l.Text)
		}
	}
	if lines.N != 10 || lines.Err != nil {
		t.Errorf("%d lines, %v", lines.N, lines.Err)
	}
}
