package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

func probeCommand(env Env) *cobra.Command {
	flags := defaultSettings()
	var config, model string
	var asJSON bool
	c := &cobra.Command{
		Use:   "probe",
		Short: "Say what the model server can do, and how models are told of their tools",
		Long: `Say what the model server can do: whether it calls tools, and whether it makes a model
follow a JSON Schema. Many servers ignore a schema without a word, so it is asked for
something that no model would write by itself. The last line is the style in which a model
is told of its tools (strategies.yaml): native means that the server calls them.

Two short requests are sent to the model.`,
		Example: `  gpt-oss-executor probe --upstream http://127.0.0.1:8000/v1
  gpt-oss-executor probe --model gpt-oss-20b --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := settings(c, config, &flags, env)
			if err != nil {
				return err
			}
			return probe(c, s, model, env.paper(asJSON), env)
		},
	}
	c.Flags().StringVar(&config, "config", "", "config `FILE` in YAML")
	c.Flags().StringVar(&model, "model", "", "the `ID` of a model that callers see; the default one if left out")
	jsonFlag(c, &asJSON, "an object")
	var but []string
	for _, f := range flags.All() {
		if name := f.Flag(); !slices.Contains([]string{"upstream", "server", "rules", "policy"}, name) {
			but = append(but, name)
		}
	}
	settingFlags(c, &flags, but...)
	return c
}

// probed is what probe prints.
type probed struct {
	upstream.Seen
	Style string `json:"style"`
}

func probe(c *cobra.Command, s ruleset.Settings, id string, out *paper, env Env) error {
	set, err := loadRules(s.Rules, s.Policy, env)
	if err != nil {
		return err
	}
	m := set.Models[0]
	if id != "" {
		known := false
		if m, known = set.Model(id); !known {
			return misused(c, fmt.Errorf("models.yaml has no model %s", id))
		}
	}
	cfg := upstream.Config{BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server}
	if m.Upstream.Value != "" { // which never gets the key of the settings
		cfg = upstream.Config{BaseURL: m.Upstream.Value}
	}
	up, err := upstream.New(cfg)
	if err != nil {
		return err
	}
	defer up.Close()
	ctx, stop := untilStopped(c)
	defer stop()
	seen, err := up.Look(ctx, set, m)
	if err != nil {
		return fmt.Errorf("probe %s: %w", up.Address(), err)
	}
	style, err := set.Style(m, ruleset.Asked{Model: m.ID.Value, Server: seen.Server, Native: seen.Tools})
	if err != nil {
		return err
	}
	if style != nil && style.Schema && !seen.Schema {
		style = style.Otherwise
	}
	p := probed{seen, ruleset.Native}
	if style != nil {
		p.Style = style.ID
	}
	return out.whole(p, p.rows())
}

func (p *probed) rows() []row {
	var r rows
	r.field("server", p.Server, "")
	r.field("models", strings.Join(p.Models, " "), "")
	r.field("tried", p.Model, "")
	if p.Window > 0 {
		r.field("window", strconv.Itoa(p.Window)+" tokens", "")
	}
	r.field("tools", yesNo(p.Tools, "it takes them", "it cannot call them"), "")
	r.field("schema", yesNo(p.Schema, "it follows one", "it does not follow one"), "")
	for _, d := range p.Detail {
		r.field("", d, "")
	}
	r.field("style", p.Style, "")
	return r.list
}

func yesNo(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
