package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
)

// config checks an openclaw.json as openclaw --check does. named are the folders of its agents.
func (p *Patient) config(ctx context.Context) (named []string, out []Check) {
	if p.Config == "" {
		p.say("no openclaw.json is named with --config, and none is looked at")
		return nil, nil
	}
	f, err := ReadOpenClaw(p.Config)
	if err != nil {
		return nil, []Check{{Name: "config", Status: fail, Found: err.Error(),
			Fix: "name the config of the gateway: --config $(openclaw config file)"}}
	}
	n, err := p.connector(ctx)
	if err != nil {
		return nil, []Check{{Name: "config", Status: fail, Found: err.Error(),
			Fix: "mend what it says, then run gpt-oss-executor doctor again"}}
	}
	merged, err := openclaw.Merge(f.Text, n.Sidecar)
	for _, found := range openclaw.Check(f.Text, n.Sidecar) {
		c := Check{Name: "config_" + strings.TrimPrefix(found.Name, "config_"), Status: found.Status,
			Found: fmt.Sprintf("%s:%d: %s", p.Config, found.Line, found.Found), Fix: found.Fix}
		if c.Name == "config_config" {
			c.Name = "config"
		}
		if c.Fix != "" && found.Path != "" {
			c.Fix += " (in " + found.Path + ")"
		}
		if c.Status != ok && err == nil && string(merged) != string(f.Text) &&
			!remains(openclaw.Check(merged, n.Sidecar), found) {
			c.Fix += "; gpt-oss-executor openclaw --write " + p.Config + ", or doctor --fix, does it"
			c.mend = mend{kind: mergeConfig, path: p.Config}
		}
		out = append(out, c)
	}
	return agents(f.Text, p.World.Roots(p.Set).Home), out
}

// remains reports whether a finding remains in a merged config.
func remains(list []openclaw.Finding, f openclaw.Finding) bool {
	for _, g := range list {
		if g.Name == f.Name && g.Path == f.Path && g.Status == f.Status {
			return true
		}
	}
	return false
}

// connector returns the sidecar for the gateway's settings. A token is referred to by name.
func (p *Patient) connector(ctx context.Context) (*Connector, error) {
	n := &Connector{Settings: p.Settings, Environ: p.Environ, Out: p.Progress, Err: p.Progress,
		AskWindow: true}
	n.URL, n.Window = p.URL, 2*openclaw.LeastWindow
	if p.Settings.Token != "" {
		n.Key = "${GPTOSS_EXECUTOR_TOKEN}"
	}
	return n, n.Learn(ctx, p.Set)
}

// agents returns the folders of the agents in a config.
func agents(text []byte, home string) (out []string) {
	root, err := jsonc.Parse(text)
	if err != nil {
		return nil
	}
	places := []*jsonc.Value{root.At("agents", "defaults", "workspace")}
	for i := range 64 {
		places = append(places, root.At("agents", "list", fmt.Sprint(i), "workspace"))
	}
	for _, v := range places {
		if v == nil || v.Kind != jsonc.String || strings.Contains(v.Text, "${") {
			continue
		}
		dir := v.Text
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(home, rest)
		}
		if filepath.IsAbs(dir) {
			out = append(out, filepath.Clean(dir))
		}
	}
	return out
}
