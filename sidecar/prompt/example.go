package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// EditsExample is a hit or a miss of one rule without mistakes.
type EditsExample struct {
	Rule   editRule
	At     rulefile.Place
	Locked bool                  // of the locked folder
	Try    func() (string, bool) // what is wrong, or ""; and whether the rule edited something
}

// Examples returns those of all rules.
func (e *Edits) Examples() (out []EditsExample) {
	for _, r := range e.requests.all() {
		for i, x := range slices.Concat(r.says.Hit, r.says.Miss) {
			hit := i < len(r.says.Hit)
			out = append(out, EditsExample{r.editRule, x.At, r.locked,
				func() (string, bool) { return tryRequest(r, x, hit) }})
		}
	}
	for _, r := range e.results.all() {
		for i, x := range slices.Concat(r.says.Hit, r.says.Miss) {
			hit := i < len(r.says.Hit)
			out = append(out, EditsExample{r.editRule, x.At, r.locked,
				func() (string, bool) { return tryResult(r, x, hit) }})
		}
	}
	return out
}

// verdict compares whether a rule edited something with the example.
func verdict(r editRule, done EditsDone, hit bool) string {
	switch made := len(done.Made) > 0; {
	case len(done.Failed) > 0:
		return "the condition of " + r.ID + " fails here: " + done.Failed[0].Error()
	case hit && !made:
		return r.ID + " edits nothing here"
	case !hit && made:
		return r.ID + " edits this, but should leave it alone"
	}
	return ""
}

func tryResult(r compiled[resultRule, ResultFacts], x resultExample, hit bool) (string, bool) {
	alone := &Edits{results: rules[resultRule, ResultFacts]{own: []compiled[resultRule, ResultFacts]{r}}}
	got, done := alone.Result(ResultFacts{Tool: x.Tool, Args: x.Args, Text: x.Text, Failed: x.Failed,
		Subject: policy.Subject{Model: x.Model, Agent: x.Agent, Run: x.Run}})
	wrong := verdict(r.editRule, done, hit)
	if wrong == "" && x.Gives != nil && got != *x.Gives {
		wrong = fmt.Sprintf("%s makes %q of this, not %q", r.ID, got, *x.Gives)
	}
	return wrong, len(done.Made) > 0
}

func tryRequest(r compiled[requestRule, RequestFacts], x requestExample, hit bool) (string, bool) {
	alone := &Edits{requests: rules[requestRule, RequestFacts]{own: []compiled[requestRule, RequestFacts]{r}}}
	body, err := x.body()
	if err != nil {
		return "these fields are not JSON", false
	}
	req, err := openai.ParseRequest(body)
	if err != nil {
		return "this is no request: " + err.Error(), false
	}
	out, done, err := alone.Request(req, policy.Subject{Model: x.Model, Agent: x.Agent, Session: x.Session,
		Run: x.Run}, nil)
	if err != nil {
		return r.ID + " makes no request of this: " + err.Error(), false
	}
	wrong := verdict(r.editRule, done, hit)
	if wrong == "" && x.Gives != nil {
		wrong = x.Gives.differs(r.ID, out)
	}
	return wrong, len(done.Made) > 0
}

// body returns the request of an example.
func (x *requestExample) body() ([]byte, error) {
	all := maps.Clone(x.Fields)
	if all == nil {
		all = map[string]any{}
	}
	messages := []map[string]any{{"role": "user", "content": x.User}}
	if x.System != "" {
		messages = slices.Insert(messages, 0, map[string]any{"role": "system", "content": x.System})
	}
	all["model"], all["messages"] = x.Model, messages
	var offered []any
	for _, name := range x.Tools {
		offered = append(offered, map[string]any{"type": "function",
			"function": map[string]any{"name": name}})
	}
	if offered != nil {
		all["tools"] = offered
	}
	return json.Marshal(all)
}

// differs returns how a request differs from the expected one, or "".
func (g *requestGives) differs(id string, got *openai.Request) string {
	text := func(role string) (all string) {
		for i := range got.Messages {
			if got.Messages[i].Role == role {
				all += got.Text(&got.Messages[i], len(got.Body))
			}
		}
		return all
	}
	var names []string
	for i := range got.Tools {
		names = append(names, got.Tools[i].Name)
	}
	if g.Tools != nil && !slices.Equal(names, *g.Tools) {
		return fmt.Sprintf("%s leaves the tools [%s], not [%s]", id, strings.Join(names, ", "),
			strings.Join(*g.Tools, ", "))
	}
	if g.System != nil && text("system") != *g.System {
		return fmt.Sprintf("%s makes %q of the system message, not %q", id, text("system"), *g.System)
	}
	if g.User != nil && text("user") != *g.User {
		return fmt.Sprintf("%s makes %q of what the user wrote, not %q", id, text("user"), *g.User)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Fields)) {
		want, err := json.Marshal(g.Fields[name])
		if is := gjson.GetBytes(got.Body, gjson.Escape(name)).Raw; err != nil || is != string(want) {
			return fmt.Sprintf("%s makes %s %s, not %s", id, name, is, want)
		}
	}
	return ""
}
