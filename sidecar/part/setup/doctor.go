package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

func doctorCommand(env cli.Env) *cobra.Command {
	flags := env.DefaultSettings()
	var file, path, url, at, turns string
	var fix, asJSON, health, ready bool
	c := &cobra.Command{
		Use:     "doctor",
		Aliases: []string{"health", "probe"}, // names until December 2027
		Args:    cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			started := env
			if text, err := os.ReadFile(path); err == nil { // mistakes in the file are found below
				started.Environ = append(openclaw.Started(text, env.Lookup), env.Environ...)
			}
			s, err := cli.SettingsOf(c, file, started)
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			s.Listen = cmp.Or(at, s.Listen)
			if health || ready || c.CalledAs() == "health" {
				return checkHealth(ctx, &http.Client{Timeout: 5 * time.Second}, s.Listen, ready)
			}
			p := Patient{Settings: s, Config: path, URL: url, Environ: env.Environ, Progress: env.Err}
			v := cli.Check(s.Rules, s.Policy, false, env)
			p.Rules = RulesFound{Folder: v.Folder, Problems: v.Problems, Err: v.Err}
			if !v.OK {
				s.Rules, s.Policy = "", ""
			}
			if p.Set, err = cli.LoadRules(s.Rules, s.Policy,
				cli.Env{Err: io.Discard, Defaults: env.Defaults, Parts: env.Parts}); err != nil {
				return err
			}
			p.World = service.World(s, s.Rules, s.Policy)
			p.Serve = func(ctx context.Context, upstream string, log io.Writer) error {
				own := env.DefaultSettings()
				own.Rules, own.Policy, own.Server = s.Rules, s.Policy, s.Server
				own.Upstream, own.UpstreamKey, own.UpstreamKeys = upstream, s.UpstreamKey, s.UpstreamKeys
				return serve(ctx, own, env, log)
			}
			p.Turns = turns != "" && !fix
			r := p.Examine(ctx)
			if fix {
				p.Turns = turns != ""
				for _, did := range p.Mend(ctx, r) {
					fmt.Fprintln(env.Err, "doctor:", did)
				}
				r = p.Examine(ctx)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("doctor: %w", context.Cause(ctx))
			}
			if len(p.asked) > 0 {
				if err := p.writeTurns(turns); err != nil {
					return err
				}
			} else if turns != "" {
				fmt.Fprintf(env.Err, "doctor: no model server could be asked, so %s is not written\n", turns)
			}
			if err := env.Printer(asJSON).Document(r, doctorRows(r)); err != nil {
				return err
			}
			if r.Fails() {
				return cli.ErrReported
			}
			return nil
		},
	}
	for _, f := range flags.All() {
		if slices.Contains([]string{"upstream", "server", "gateway", "workspace", "state", "decisions",
			"listen"}, f.Flag()) {
			c.Flags().StringVar(f.Text, f.Flag(), *f.Text, "as of serve: `"+f.Is+"`")
		}
	}
	c.Flags().StringVar(&path, "config", "", "look at `FILE`, the openclaw.json of the gateway")
	c.Flags().StringVar(&file, "settings", "", "read the settings from `FILE`, the config file of serve")
	c.Flags().StringVar(&url, "url", "",
		"base `URL` under which the gateway reaches the sidecar (without it: by --listen)")
	c.Flags().BoolVar(&health, "health", false, "ask only whether a server lives")
	c.Flags().BoolVar(&ready, "ready", false, "ask only whether a server would serve a request")
	c.Flags().StringVar(&at, "at", "", "`ADDRESS` at which the server listens, as health had it")
	c.Flag("at").Hidden = true
	c.Flags().StringVar(&turns, "turns", "",
		"ask for ten calls, without the sidecar and with it, and write a page about them to `FILE`")
	c.Flags().BoolVar(&fix, "fix", false, "mend what is ours, and look again")
	cli.RulesFlag(c, env, &flags.Rules)
	cli.PolicyFlag(c, env, &flags.Policy)
	cli.JSONFlag(c, &asJSON, "one document")
	cli.Modes(c, "ready: at health listen settings", "health: at listen ready settings", ": at config decisions fix gateway json listen policy rules server settings state turns upstream url workspace")
	return c
}

func doctorRows(r *Diagnosis) []cli.Row {
	var out cli.Rows
	for _, check := range r.Checks {
		in := map[openclaw.Status]cli.Ink{openclaw.Fail: cli.Red, openclaw.Warn: cli.Bold}[check.Status]
		out.Add(0, in, "", "%-4s %s: %s", check.Status, check.Name, check.Found)
		if check.Fix != "" {
			out.Add(2, cli.Plain, "", " fix: %s", check.Fix)
		}
	}
	return out.List
}

// Check is the result of one check. Fix is empty if nothing is wrong.
type Check struct {
	Name   string          `json:"name"`
	Status openclaw.Status `json:"status"`
	Found  string          `json:"found"`
	Fix    string          `json:"fix"`

	mend mend // how Mend mends it
}

// Statuses of a check, shared with checks of a config.
const (
	ok   = openclaw.OK
	warn = openclaw.Warn
	fail = openclaw.Fail
)

// Diagnosis holds all results, in order of the checks.
type Diagnosis struct {
	Checks []Check `json:"checks"`
}

// Fails reports whether a check failed.
func (r *Diagnosis) Fails() bool {
	for _, c := range r.Checks {
		if c.Status == fail {
			return true
		}
	}
	return false
}

func (r *Diagnosis) add(list ...Check) { r.Checks = append(r.Checks, list...) }

// Patient is a sidecar, as its settings describe it, with its surroundings.
type Patient struct {
	Settings config.Settings
	Set      *ruleset.Set // the built-in rules if others do not load
	Rules    RulesFound
	World    guard.World // of the policy, by the settings
	Config   string      // path of an openclaw.json; empty: none
	URL      string      // of the sidecar, for the gateway; empty: by the settings
	Environ  []string
	Progress io.Writer // gets a line for each slow step
	Turns    bool      // ask for the scripted turns
	Serve    Serve     // runs the sidecar for them
	asked    []serverTurns
}

// RulesFound is the result of loading the rules.
type RulesFound struct {
	Folder   string // builtin: the built-in rules
	Problems rulefile.Problems
	Err      error // the folder cannot be read
}

// Examine runs all checks. It asks each model server three short questions and a long one.
func (p *Patient) Examine(ctx context.Context) *Diagnosis {
	r := &Diagnosis{}
	r.add(p.rules()...)
	r.add(profile(p.Set, p.Rules.Folder))
	r.add(p.servers(ctx)...)
	r.add(p.gateway(ctx)...)
	r.add(p.shared(ctx)...)
	named, list := p.config(ctx)
	r.add(list...)
	r.add(p.workspace(named)...)
	r.add(folders(p.Settings, os.Stat)...)
	p.mask(r)
	return r
}

// mask masks every secret of the settings in the results, since a server may repeat it.
func (p *Patient) mask(r *Diagnosis) {
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Found, c.Fix = p.masked(c.Found), p.masked(c.Fix)
	}
}

func (p *Patient) masked(text string) string {
	for _, f := range p.Settings.All() {
		if f.Flag() != "" {
			continue
		}
		for _, secret := range strings.Fields(*f.Text) {
			if len(secret) > 3 && !strings.Contains(secret, "://") {
				text = strings.ReplaceAll(text, secret, "[secret]")
			}
		}
	}
	return text
}

func (p *Patient) workspace(named []string) []Check {
	w := workFolders{set: p.Settings.Workspace, fixed: p.Settings.Workspace != "" || p.Set.Fixed(),
		may: p.World.Roots(p.Set).Write, named: named}
	w.takes = func(dir string) bool { return p.World.WithFolder(p.Set, dir).Roots(p.Set).Workspace() == dir }
	return w.checks(os.Stat)
}

func (p *Patient) say(format string, args ...any) {
	fmt.Fprintf(p.Progress, "doctor: "+format+"\n", args...)
}

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

// mendable is a kind of repair that this program can make.
type mendable int

const (
	nothing     mendable = iota
	makeFolder           // create a missing folder
	closeFolder          // remove the rights of others
	mergeConfig          // merge our settings into an openclaw.json, with a backup
)

// mend describes how to mend a finding; the zero value: not here.
type mend struct {
	kind mendable
	path string
	mode fs.FileMode
}

// Mend repairs what it can, each thing once, and returns a line for each. It continues after a failure.
func (p *Patient) Mend(ctx context.Context, r *Diagnosis) (did []string) {
	seen := map[mend]bool{}
	for _, c := range r.Checks {
		m := c.mend
		if c.Status == ok || m.kind == nothing || seen[m] {
			continue
		}
		seen[m] = true
		what, err := "", error(nil)
		switch m.kind {
		case makeFolder:
			what, err = "made the folder "+m.path, os.MkdirAll(m.path, m.mode)
		case closeFolder:
			what, err = fmt.Sprintf("set the mode of %s to %o", m.path, m.mode), os.Chmod(m.path, m.mode)
		case mergeConfig:
			what, err = "merged the settings into "+m.path, p.merge(ctx, m.path)
		}
		if err != nil {
			what = c.Name + " is not mended: " + err.Error()
		}
		did = append(did, what)
	}
	return did
}

func (p *Patient) merge(ctx context.Context, path string) error {
	n, err := p.connector(ctx)
	if err != nil {
		return err
	}
	return n.Write(ctx, path)
}
