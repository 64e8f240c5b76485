package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// kinship is a family of models, and by what it was recognised.
type kinship struct {
	family *ruleset.Family // nil: none knows the model
	by     string
}

// Family is the one that a model belongs to, and by what it was recognised: by models.yaml, by the names that
// the server has for the model, or by its chat template. It is nil where no family knows it.
func (c *Client) Family(ctx context.Context, set *ruleset.Set, srv *ruleset.Server,
	m ruleset.Model) (f *ruleset.Family, by string) {
	if m.Family.Value != "" {
		return set.Family(m.Family.Value), "models.yaml"
	}
	d := c.known(ctx, set)
	if k, ok := d.families.Get(m.Name); ok {
		return k.family, k.by
	}
	k, sure := c.kinship(ctx, d, srv, m.Name)
	if sure {
		d.families.Swap(m.Name, k)
		if old, told := c.kin.Swap(m.Name, familyName(k.family)); !told || old != familyName(k.family) {
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

// kinship looks for the family of a model. It is not sure where the server has not answered yet.
func (c *Client) kinship(ctx context.Context, d *dialect, srv *ruleset.Server,
	model string) (k kinship, sure bool) {
	props := gjson.ParseBytes(d.seen.answers[srv.Props])
	for _, n := range []struct{ what, name string }{
		{"the name", model}, {"the name of its root", rootOf(d.seen.answers[modelList(srv)], model)},
		{"the name of its file", path.Base(props.Get("model_path").String())},
	} {
		if f := d.set.FamilyByName(n.name); f != nil {
			return kinship{f, n.what + " " + n.name}, true
		}
	}
	template := props.Get("chat_template").String()
	if srv.API == ruleset.OllamaAPI {
		about, err := c.show(ctx, model)
		if err != nil {
			return kinship{by: "the server has not answered"}, false
		}
		if name := about.Get("details.family").String(); name != "" {
			if f := d.set.FamilyByName(name); f != nil {
				return kinship{f, "the family " + name + " of Ollama"}, true
			}
		}
		template = about.Get("template").String()
	}
	if f := d.set.FamilyByTemplate(template); f != nil {
		return kinship{f, "its chat template"}, true
	}
	return kinship{by: "no file of families knows it"}, len(d.seen.answers) > 0
}

// rootOf is the name from which a list of models says that a model is served under another one.
func rootOf(list []byte, model string) string {
	all, _ := entries(list)
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
