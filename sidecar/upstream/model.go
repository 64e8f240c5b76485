package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Model returns m with its name at the upstream: its own, or that of the listed model that the asked id
// means, or the id itself where nothing is listed. The error is an *openai.Error with the list.
func (c *Client) Model(ctx context.Context, set *ruleset.Set, m ruleset.Model,
	asked string) (ruleset.Model, error) {
	if m.Name != "" {
		return m, nil
	}
	m.Name = asked
	listed := c.Models(ctx, set)
	if len(listed) == 0 || slices.Contains(listed, asked) {
		return m, nil
	}
	name, ok := matchModel(asked, listed)
	if !ok {
		return m, openai.ModelNotServed(asked, listed)
	}
	m.Name = name
	if old, known := c.chosen.Swap(asked, name); !known || old != name {
		c.log.InfoContext(ctx, "model chosen", "event", "model_chosen", "asked", asked, "model", name,
			"listed", strings.Join(listed, " "))
	}
	return m, nil
}

// matchModel returns the listed model that an id means. An id with a size means that size only.
func matchModel(asked string, listed []string) (id string, ok bool) {
	a, names := parseModelName(asked), make([]modelName, len(listed))
	for i, id := range listed {
		names[i] = parseModelName(id)
	}
	for _, fits := range []func(modelName) bool{
		func(l modelName) bool { return slices.Equal(l.parts, a.parts) },
		func(l modelName) bool { return l.plain && a.plain && a.size != "" && l.size == a.size },
		func(l modelName) bool { return a.size == "" && l.plain },
		func(l modelName) bool {
			return len(l.parts) > len(a.parts) && slices.Equal(l.parts[:len(a.parts)], a.parts)
		},
		func(l modelName) bool { return a.size == "" && len(names) == 1 && !noChat.MatchString(l.id) },
	} {
		if i := slices.IndexFunc(names, fits); i >= 0 {
			return listed[i], true
		}
	}
	return "", false
}

// modelName is a model id in parts: hf.co/unsloth/gpt-oss-20b-GGUF:Q4_K_M is gpt oss 20b gguf q4 k m.
type modelName struct {
	id    string
	parts []string
	size  string // 20b
	plain bool   // gpt-oss itself in any quantisation
}

var (
	sizePart = regexp.MustCompile(`^\d+(\.\d+)?[bm]$`)
	noChat   = regexp.MustCompile(`(?i)embed|rerank`)
)

func parseModelName(id string) modelName {
	n := modelName{id: id}
	last := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	last = strings.ReplaceAll(last, "gptoss", "gpt-oss")
	n.parts = strings.FieldsFunc(last,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if i := slices.IndexFunc(n.parts, sizePart.MatchString); i >= 0 {
		n.size = n.parts[i]
	}
	if i := slices.Index(n.parts, "oss"); i > 0 && n.parts[i-1] == "gpt" {
		n.parts = n.parts[i-1:] // a vendor may stand before it
		n.plain = len(n.parts) == 2 || sizePart.MatchString(n.parts[2])
	}
	return n
}

// familyMatch is the family of a model and how it was recognised.
type familyMatch struct {
	family *ruleset.Family // nil: unknown
	by     string
}

// Family returns the family of a model, nil if unknown, and how it was recognised: by models.yaml, by the
// server's names for the model, or by its chat template.
func (c *Client) Family(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (f *ruleset.Family, by string) {
	if m.Family.Value != "" {
		return set.Family(m.Family.Value), "models.yaml"
	}
	d := c.currentDialect(ctx, set)
	if k, ok := d.families.Get(m.Name); ok {
		return k.family, k.by
	}
	k, sure := c.findFamily(ctx, d, srv, m.Name)
	if sure {
		d.families.Swap(m.Name, k)
		if old, known := c.familyNames.Swap(m.Name, familyName(k.family)); !known ||
			old != familyName(k.family) {
			c.log.InfoContext(ctx, "model family recognised", "event", "family_recognised", "model", m.Name,
				"family", familyName(k.family), "by", k.by)
		}
	}
	return k.family, k.by
}

func familyName(f *ruleset.Family) string {
	if f == nil {
		return ""
	}
	return f.Name
}

// findFamily looks for the family of a model. It is not sure while the server has not answered.
func (c *Client) findFamily(ctx context.Context, d *dialect, srv *ruleset.Server,
	model string) (k familyMatch, sure bool) {
	props := gjson.ParseBytes(d.probed.answers[srv.Props])
	for _, n := range []struct{ what, name string }{
		{"the name", model}, {"the name of its root", rootOf(d.probed.answers[modelListPath(srv)], model)},
		{"the name of its file", path.Base(props.Get("model_path").String())},
	} {
		if f := d.set.FamilyByName(n.name); f != nil {
			return familyMatch{f, n.what + " " + n.name}, true
		}
	}
	template := props.Get("chat_template").String()
	if srv.API == ruleset.OllamaAPI {
		about, err := c.show(ctx, model)
		if err != nil {
			return familyMatch{by: "the server has not answered"}, false
		}
		if name := about.Get("details.family").String(); name != "" {
			if f := d.set.FamilyByName(name); f != nil {
				return familyMatch{f, "the family " + name + " of Ollama"}, true
			}
		}
		template = about.Get("template").String()
	}
	if f := d.set.FamilyByTemplate(template); f != nil {
		return familyMatch{f, "its chat template"}, true
	}
	return familyMatch{by: "no file of families knows it"}, len(d.probed.answers) > 0
}

// rootOf returns the root of a model that a list names as served under another name.
func rootOf(list []byte, model string) string {
	all, _ := listEntries(list)
	for _, m := range all {
		if idOf(m) == model {
			return m.Get("root").String()
		}
	}
	return ""
}

// show asks Ollama about a model.
// https://github.com/ollama/ollama/blob/main/docs/api.md#show-model-information
func (c *Client) show(ctx context.Context, model string) (gjson.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	body := append(jsontext.AppendString([]byte(`{"model":`), model), '}')
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address("/api/show"),
		bytes.NewReader(body))
	if err != nil {
		return gjson.Result{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	c.authorize(req)
	res, err := c.http.Do(req)
	if err != nil {
		return gjson.Result{}, err
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(res.Body, probeBytes))
	if err == nil && res.StatusCode/100 == 5 {
		err = statusError(res.StatusCode)
	}
	return gjson.ParseBytes(doc), err
}
