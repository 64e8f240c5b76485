package upstream

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// modelsPath lists the models on every server whose dialect names no other.
const modelsPath = "/v1/models"

// dialect remembers what a sighting means under a set.
type dialect struct {
	set      *ruleset.Set
	seen     *sighting
	server   *ruleset.Server
	models   []string
	families *recent.Shared[kinship] // by the name of the model
}

// Server is the upstream's dialect: the configured one, else the first that its
// answers to the probes fit.
func (c *Client) Server(ctx context.Context, set *ruleset.Set) *ruleset.Server {
	if c.cfg.Server != "" {
		return set.Server(c.cfg.Server)
	}
	return c.known(ctx, set).server
}

// known is what the last answers to the probes mean under a set.
func (c *Client) known(ctx context.Context, set *ruleset.Set) *dialect {
	set = set.Base() // no agent has servers of its own
	seen := c.look(ctx, set)
	old := c.dialect.Load()
	if old != nil && old.set == set && old.seen == seen {
		return old
	}
	d := &dialect{set: set, seen: seen}
	if c.cfg.Server != "" {
		d.server = set.Server(c.cfg.Server)
	} else {
		d.server = detect(set.Servers, seen.answers)
		if len(seen.answers) > 0 && (old == nil || old.server.ID.Value != d.server.ID.Value) {
			c.log.InfoContext(ctx, "upstream recognised", "event",
				"upstream_recognised", "server", d.server.ID.Value)
		}
	}
	d.models = models(seen.answers[modelList(d.server)])
	d.families = recent.NewShared[kinship](maxModels)
	if old != nil && old.set == set && old.server == d.server && slices.Equal(old.models, d.models) {
		d.families = old.families // it is the same server: what it has said counts
	}
	c.dialect.Store(d)
	return d
}

// detect is the first server of which a probe hits, else the last one.
func detect(servers []ruleset.Server, answers map[string][]byte) *ruleset.Server {
	for i := range servers {
		if len(servers[i].Detect) == 0 {
			return &servers[i]
		}
		for _, p := range servers[i].Detect {
			if body, ok := answers[p.Path]; ok && fits(p, body) {
				return &servers[i]
			}
		}
	}
	return &servers[len(servers)-1]
}

// fits compares without white space: servers indent their JSON differently.
func fits(p ruleset.Probe, body []byte) bool {
	if p.Contains == "" {
		doc := bytes.TrimSpace(body)
		return len(doc) > 0 && doc[0] == '{' && gjson.ValidBytes(doc)
	}
	return bytes.Contains(bytes.Map(noSpace, body), []byte(strings.Map(noSpace, p.Contains)))
}

func noSpace(r rune) rune {
	if unicode.IsSpace(r) {
		return -1
	}
	return r
}

// questions are the paths to ask so that every server can be told from the
// others and its models and context are known.
func questions(servers []ruleset.Server) []string {
	ask := []string{modelsPath}
	for i := range servers {
		for _, p := range servers[i].Detect {
			ask = append(ask, p.Path)
		}
		ask = append(ask, modelList(&servers[i]))
		if servers[i].Props != "" {
			ask = append(ask, servers[i].Props)
		}
	}
	slices.Sort(ask)
	return slices.Compact(ask)
}

func modelList(srv *ruleset.Server) string {
	if srv.Models == "" {
		return modelsPath
	}
	return "/v1" + srv.Models
}

// Models are the ids that the upstream lists; empty where it does not answer.
func (c *Client) Models(ctx context.Context, set *ruleset.Set) []string {
	return c.known(ctx, set).models
}

// Answer is what the upstream answered to the probe of a path, when it was looked at last; nil:
// nothing that helps.
func (c *Client) Answer(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		return nil
	}
	return c.seen.answers[path]
}

func models(list []byte) []string {
	var ids []string
	all, _ := entries(list)
	for _, m := range all {
		ids = append(ids, idOf(m))
	}
	return ids
}

// entries are those of a list of models: under data as OpenAI has them, under models as Ollama has them, or
// bare as Together has them.
func entries(list []byte) (all []gjson.Result, is bool) {
	doc := gjson.ParseBytes(list)
	for _, at := range []gjson.Result{doc.Get("data"), doc.Get("models"), doc} {
		if at.IsArray() {
			return at.Array(), true
		}
	}
	data := doc.Get("data")
	return nil, data.Exists() && data.Type == gjson.Null // of Ollama without a model
}

func isList(body []byte) bool { _, is := entries(body); return is }

// idOf is the id of a model in a list.
func idOf(m gjson.Result) string {
	return cmp.Or(m.Get("id").String(), m.Get("model").String(), m.Get("name").String())
}

// Window is the length of a model's context in tokens, as far as the upstream's answers
// to the probes tell; 0 where they do not. model is its name there.
func (c *Client) Window(srv *ruleset.Server, model string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		return 0
	}
	return window(srv, model, c.seen.answers)
}

// window is the smallest context that any of the answers tells of the model: it may be
// trained for more than the server gives it. A list that does not have it is about its first.
func window(srv *ruleset.Server, model string, answers map[string][]byte) int {
	least := 0
	for _, path := range []string{modelList(srv), srv.Props} {
		about, _ := entries(answers[path])
		at := max(0, slices.IndexFunc(about, func(m gjson.Result) bool { return idOf(m) == model }))
		for _, key := range srv.Window {
			of := gjson.ParseBytes(answers[path])
			if inList, ok := strings.CutPrefix(key, "data.0."); ok && len(about) > 0 {
				of, key = about[at], inList
			}
			n := int(of.Get(strings.ReplaceAll(key, "{model}", model)).Int())
			if n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least
}
