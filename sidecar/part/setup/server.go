package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Timeouts of questions. The long prompt takes minutes on a small machine.
const (
	askPatience  = 90 * time.Second
	longPatience = 5 * time.Minute
	answerBytes  = 1 << 20
)

// servers checks each model server of the rules once.
func (p *Patient) servers(ctx context.Context) (out []Check) {
	seen := map[string]bool{}
	several := len(p.Set.Upstreams) > 1
	for _, m := range p.Set.Models {
		for _, u := range p.Set.UpstreamsOf(m) {
			if seen[u.URL] {
				continue
			}
			seen[u.URL] = true
			list := p.server(ctx, m, u)
			for i := range list {
				if several || u.Name != ruleset.Main {
					list[i].Name += "@" + cmp.Or(u.Name, host(u.URL))
				}
			}
			out = append(out, list...)
		}
	}
	return out
}

// host returns a name for a server, without its password.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "upstream"
	}
	return u.Host
}

// server checks one, with the first model that it serves.
func (p *Patient) server(ctx context.Context, m ruleset.Model, u ruleset.Upstream) []Check {
	cfg, err := upstream.ConfigOf(p.Settings, u)
	var c *upstream.Client
	if err == nil {
		cfg.Log, cfg.Connect = slog.New(slog.DiscardHandler), p.Set.Limits.Connect
		c, err = upstream.New(cfg)
	}
	if err != nil {
		return []Check{{Name: "upstream", Status: fail, Found: err.Error(),
			Fix: "name the model server with --upstream http://127.0.0.1:8000/v1"}}
	}
	defer c.Close()
	p.say("asking %s what it is", c.Address())
	if err := c.Ready(ctx, cmp.Or(p.Set.Limits.ProbeTimeout, 2*time.Second)); err != nil {
		return []Check{unready(c.Address(), err)}
	}
	srv := c.Server(ctx, p.Set)
	if m.Server.Value != "" {
		srv = p.Set.Server(m.Server.Value)
	}
	v := server{dialect: srv.ID.Value, version: version(c.Answer)}
	out := []Check{v.fine("upstream", "%s answers", c.Address()), v.kind(srv)}
	sent, err := c.Model(ctx, p.Set, m, m.ID.Value)
	v.model = cmp.Or(sent.Name, m.ID.Value)
	v.window = c.Window(srv, v.model)
	out = append(out, v.ids(ctx, c, p.Set, u))
	if err != nil {
		return append(out, v.room())
	}
	f, by := c.Family(ctx, p.Set, srv, sent)
	if v.profile = m.Profile.Value; v.profile == "" && f != nil {
		v.profile = f.Name
	}
	out = append(out, v.family(f, by))
	a := asker{c, p.Set, srv, sent}
	p.say("asking for a call, and for words (%s)", v.model)
	call, words := a.ask(ctx, callQuestion, askPatience), a.ask(ctx, countQuestion(), askPatience)
	out = append(out, v.tools(call), v.reasoning(srv.ReasoningIn, call, words))
	if v.window == 0 {
		c.LookAgain(ctx, p.Set) // the model is loaded now
		v.window = c.Window(srv, v.model)
	}
	p.say("asking for an answer by a JSON Schema")
	follows, doubt, detail := c.TestSchema(ctx, p.Set, srv, sent)
	out = append(out, v.schema(follows, doubt, detail), v.style(p.Set, m, !call.noTools, follows), v.room())
	size := longTokens
	if v.window == 0 {
		size = fullTokens
	}
	p.say("asking a long question of %d tokens, as OpenClaw does; this takes a small machine minutes", size)
	out = append(out, v.longPrompt(a.ask(ctx, longQuestion(size), longPatience), size, secretWord),
		v.length(words, openclaw.DefaultTokens))
	if p.Turns {
		out = append(out, p.turns(ctx, v, c.Base(), cfg.Key, m.ID.Value))
	}
	return out
}

// unready returns the check of a server that does not list its models.
func unready(address string, err error) Check {
	c := Check{Name: "upstream", Status: fail, Found: address + ": " + strings.TrimPrefix(err.Error(),
		"upstream: "), Fix: startHint(address)}
	var o *upstream.Obstacle
	switch text := err.Error(); {
	case errors.As(err, &o):
		c.Fix = o.Fix
	case strings.Contains(text, "refuses the key"):
		c.Fix = "set GPTOSS_EXECUTOR_UPSTREAM_KEY to the key that the model server wants (--api-key of vLLM, llama-server and SGLang)"
	case strings.Contains(text, "no list of models"), strings.Contains(text, "404"):
		c.Fix = "name the base URL of the model server with --upstream; it mostly ends in /v1: http://127.0.0.1:8000/v1"
	}
	return c
}

// family checks how the replies of the model are read.
func (v server) family(f *ruleset.Family, by string) Check {
	if f == nil {
		return v.fine("family", "%s is read as gpt-oss is: %s", v.model, by)
	}
	return v.fine("family", "%s is read as a %s, by %s", v.model, f.Name, by)
}

// kind checks which kind of server it is.
func (v server) kind(srv *ruleset.Server) Check {
	name := v.dialect
	if v.version != "" {
		name += ", version " + v.version
	}
	if len(srv.Detect) == 0 {
		return Check{Name: "dialect", Status: warn,
			Found: "the kind of server is not known; it is treated as " + name,
			Fix:   "name it with serve --server: vllm, ollama, llamacpp, sglang or lmstudio, if it is one of these"}
	}
	if f := faulty(v.dialect, v.version); f != nil {
		return Check{Name: "dialect", Status: warn, Found: name + ": before " + f.mended + " " + f.what,
			Fix: f.fix + ", see " + f.source}
	}
	return v.fine("dialect", "%s", name)
}

// version returns the version that a server reports.
func version(answer func(path string) []byte) string {
	for _, at := range [][2]string{{"/version", "version"}, {"/api/version", "version"},
		{"/props", "build_info"}, {"/get_server_info", "version"}} {
		if text := gjson.GetBytes(answer(at[0]), at[1]).String(); text != "" {
			return text
		}
	}
	return ""
}

// ids checks the model ids that are sent to the server.
func (v server) ids(ctx context.Context, c *upstream.Client, set *ruleset.Set, u ruleset.Upstream) Check {
	const name = "models"
	listed := c.Models(ctx, set)
	var sent, none []string
	first := ""
	for _, m := range set.Models {
		for _, at := range set.UpstreamsOf(m) {
			if at != u {
				continue
			}
			if first == "" {
				first = m.ID.Value
			}
			if to, err := c.Model(ctx, set, m, m.ID.Value); err == nil {
				sent = append(sent, m.ID.Value+" → "+to.Name)
			} else {
				none = append(none, m.ID.Value)
			}
		}
	}
	found := fmt.Sprintf("the server lists %s; it is sent: %s", strings.Join(listed, ", "),
		strings.Join(sent, ", "))
	if len(none) > 0 {
		found += "; it has nothing for " + strings.Join(none, ", ") +
			", which only matters to callers that name it"
	}
	switch {
	case len(listed) == 0:
		return v.flawed(name, warn, noModel,
			"the server lists no models; each is asked for by our own name: %s", strings.Join(sent, ", "))
	case len(none) > 0 && none[0] == first:
		return v.flawed(name, fail, noModel, "the server lists %s, and none of them is meant by %s",
			strings.Join(listed, ", "), strings.Join(none, ", "))
	}
	return v.fine(name, "%s", found)
}

// asker asks questions about one model.
type asker struct {
	c   *upstream.Client
	set *ruleset.Set
	srv *ruleset.Server
	m   ruleset.Model
}

// ask asks a question in the dialect of the server, at most twice.
func (a asker) ask(ctx context.Context, body string, within time.Duration) serverAnswer {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	q, err := openai.ParseRequest([]byte(body))
	if err != nil {
		return serverAnswer{why: err.Error()}
	}
	prepared := openai.Apply(q.Body, upstream.Prepare(q, a.srv, a.m, upstream.Memory{}, nil))
	reply, err := a.c.AskWithin(ctx, a.set, a.srv, prepared, within,
		upstream.Budget{Retries: 1, End: time.Now().Add(within)})
	if err != nil {
		return unanswered(err)
	}
	defer reply.Body.Close()
	if reply.Failure != nil {
		return unanswered(reply.Failure)
	}
	doc, err := io.ReadAll(io.LimitReader(reply.Body, answerBytes))
	switch {
	case err != nil:
		return unanswered(err)
	case !gjson.ValidBytes(doc):
		return serverAnswer{why: "the answer is no JSON: " + short(string(doc))}
	}
	return serverAnswer{doc: doc}
}

func unanswered(err error) serverAnswer {
	s := serverAnswer{why: err.Error()}
	var f *upstream.Failure
	if errors.As(err, &f) {
		s.why, s.noTools = cmp.Or(f.Why, f.Say.Message), f.NoTools
		s.overflow, s.missing = f.Fault == ruleset.Overflow, f.Fault == ruleset.Missing
	}
	return s
}

// window asks the server of a model for its context window in tokens; 0: unknown. An error means that it
// cannot be asked.
func window(ctx context.Context, s config.Settings, set *ruleset.Set, m ruleset.Model,
	u ruleset.Upstream) (int, error) {
	c, err := upstream.ConfigOf(s, u)
	if err != nil {
		return 0, err
	}
	c.Server = cmp.Or(m.Server.Value, c.Server)
	c.Connect, c.IdleConnections, c.Log = set.Limits.Connect, 1, slog.New(slog.DiscardHandler)
	up, err := upstream.New(c)
	if err != nil {
		return 0, err
	}
	defer up.Close()
	if err := up.Ready(ctx, set.Limits.ProbeTimeout); err != nil {
		return 0, fmt.Errorf("%s: %s", up.Address(), strings.TrimPrefix(err.Error(), "upstream: "))
	}
	sent, err := up.Model(ctx, set, m, m.ID.Value)
	return up.Window(up.Server(ctx, set), sent.Name), err
}

// leastWindow returns the smallest context window of the model servers; 0: unknown, and why says why.
func leastWindow(ctx context.Context, s config.Settings, set *ruleset.Set) (least int, why string) {
	why = "the model server does not say it"
	asked := map[string]bool{}
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			if asked[u.URL] {
				continue
			}
			asked[u.URL] = true
			n, err := window(ctx, s, set, m, u)
			if err != nil {
				why = err.Error()
			}
			if n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least, why
}

// callQuestion asks for a call of a harmless tool that returns the time.
const callQuestion = `{"messages":[{"role":"user","content":"Which time is it? Call the tool current_time to find out."}],"stream":false,"max_tokens":1024,"reasoning_effort":"low",` +
	`"tools":[{"type":"function","function":{"name":"current_time","description":"Tells the time.","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto"}`

// countQuestion needs some four hundred tokens, and allows as many as OpenClaw does.
func countQuestion() string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":"Count from 1 to 200, all in one line, with blanks in between. Write nothing else."}],"stream":false,"max_tokens":%d,"reasoning_effort":"low"}`, openclaw.DefaultTokens)
}

// A long question is as long as OpenClaw's first prompt with tools; if the server does not report its
// window, it nearly fills the least one. Its first message has a word that the last one asks for, because
// servers that drop messages drop the oldest.
const (
	longTokens = 16000
	fullTokens = 31000
	longTurns  = 16
	secretWord = "heron-4127"
)

func longQuestion(size int) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	words := strings.Fields("apple river stone cloud tree house water light green field") // one token each
	filler := strings.Repeat(" "+strings.Join(words, " "), size/longTurns/len(words))
	list := []message{{"user", "Remember this word: " + secretWord + ". I will ask for it at the end."},
		{"assistant", "I will."}}
	for i := range longTurns {
		list = append(list, message{"user", fmt.Sprintf("Page %d:%s", i+1, filler)},
			message{"assistant", "Read."})
	}
	list = append(list, message{"user", "Which word should you remember? Write the word and nothing else."})
	doc, err := json.Marshal(map[string]any{"messages": list, "stream": false, "max_tokens": 512,
		"reasoning_effort": "low"})
	if err != nil { // texts can always be encoded
		return ""
	}
	return string(doc)
}
