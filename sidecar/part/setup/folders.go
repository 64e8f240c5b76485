package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// stat returns the info of a file, as os.Stat does.
type stat func(path string) (fs.FileInfo, error)

// folders checks the folders that the server writes to.
func folders(s config.Settings, look stat) (out []Check) {
	if s.State == "" {
		out = append(out, Check{Name: "state", Status: warn,
			Found: "no state folder is set: after a start with broken rules the last good ones are not there, runs end with a crash, and nothing is recorded",
			Fix:   "serve --state ~/.local/state/gpt-oss-executor, or GPTOSS_EXECUTOR_STATE"})
	} else {
		out = append(out, checkFolder("state", s.State, look))
	}
	for _, f := range []struct{ name, dir string }{{"decisions", service.DecisionsIn(s)},
		{"error_log", s.ErrorLog}} {
		below, err := filepath.Rel(s.State, f.dir)
		// the server creates folders in state
		made := s.State != "" && err == nil && !strings.HasPrefix(below, "..")
		if _, err := look(f.dir); f.dir != "" && !(made && errors.Is(err, fs.ErrNotExist)) {
			out = append(out, checkFolder(f.name, f.dir, look))
		}
	}
	return out
}

// checkFolder checks that a folder can be used, and only by this user.
func checkFolder(name, dir string, look stat) Check {
	info, err := look(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{Name: name, Status: warn, Found: dir + " is not there yet",
			Fix: "mkdir -p -m 700 " + dir, mend: mend{kind: makeFolder, path: dir, mode: 0o700}}
	case err != nil:
		return Check{Name: name, Status: fail, Found: err.Error(),
			Fix: "name another folder, or let this user reach it"}
	case !info.IsDir():
		return Check{Name: name, Status: fail, Found: dir + " is no folder",
			Fix: "name a folder, with --" + strings.ReplaceAll(name, "_", "-")}
	case info.Mode().Perm()&0o300 != 0o300 || !writable(dir):
		return Check{Name: name, Status: fail, Found: "this user may not write to " + dir,
			Fix: "chmod u+rwx " + dir + ", or sudo chown $(id -u) " + dir}
	case atomicfile.May(info)&0o022 != 0:
		return Check{Name: name, Status: fail,
			Found: fmt.Sprintf("others may write to %s (mode %o), so it is not used", dir,
				info.Mode().Perm()), Fix: "chmod 700 " + dir, mend: mend{kind: closeFolder, path: dir,
				mode: 0o700}}
	case atomicfile.May(info) != 0:
		return Check{Name: name, Status: warn, Found: fmt.Sprintf("others may read %s (mode %o)", dir,
			info.Mode().Perm()), Fix: "chmod 700 " + dir, mend: mend{kind: closeFolder, path: dir,
			mode: 0o700}}
	}
	return Check{Name: name, Status: ok, Found: dir + " is ours alone"}
}

// workFolders describes the folders in which agents work.
type workFolders struct {
	set   string                // in the settings; empty: not set
	fixed bool                  // by settings or paths.yaml; else the gateway chooses
	may   []string              // where agents may write, the workspace first
	named []string              // in the config of the gateway
	takes func(dir string) bool // whether the policy accepts a folder of the gateway
}

const worksName = "workspace"

// checks compares the folders.
func (w workFolders) checks(look stat) (out []Check) {
	if w.set != "" {
		out = append(out, w.settings(look)...)
	}
	for _, dir := range w.named {
		switch _, err := look(dir); {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, Check{Name: worksName, Status: warn, Found: "the gateway works in " + dir +
				", which is not there", Fix: "mkdir -p " + dir + ", or openclaw setup"})
		case w.fixed && !slices.ContainsFunc(w.may, func(root string) bool { return within(root, dir) }):
			out = append(out, Check{Name: worksName, Status: fail, Found: "the gateway works in " + dir +
				", and the policy lets agents write in " + strings.Join(w.may, ", ") + " alone",
				Fix: "serve --workspace " + dir +
					", or leave it out there and in paths.yaml, so that the gateway says where its agent works"})
		case !w.fixed && !w.takes(dir):
			out = append(out, Check{Name: worksName, Status: fail, Found: "the gateway works in " + dir +
				", which the policy does not take over as a workspace: the system, a home as a whole, secrets or the sidecar itself are in it",
				Fix: "name another agents.defaults.workspace in openclaw.json, or, if it is meant, serve --workspace " + dir})
		}
	}
	switch {
	case len(out) > 0:
	case w.fixed && len(w.may) > 0:
		out = []Check{{Name: worksName, Status: ok, Found: "agents work in " + w.may[0]}}
	case len(w.named) > 0:
		out = []Check{{Name: worksName, Status: ok, Found: "agents work where the gateway says: " +
			strings.Join(w.named, ", ")}}
	default:
		out = []Check{{Name: worksName, Status: ok,
			Found: "none is set: the gateway says for each request where its agent works"}}
	}
	return out
}

// settings checks the folder in the settings.
func (w workFolders) settings(look stat) (out []Check) {
	info, err := look(w.set)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = append(out, Check{Name: worksName, Status: fail, Found: w.set + " is not there",
			Fix: "mkdir -p " + w.set + ", or name another one with --workspace", mend: mend{kind: makeFolder,
				path: w.set, mode: 0o755}})
	case err != nil:
		out = append(out, Check{Name: worksName, Status: fail, Found: err.Error(),
			Fix: "name another folder with --workspace"})
	case !info.IsDir():
		out = append(out, Check{Name: worksName, Status: fail, Found: w.set + " is no folder",
			Fix: "name a folder with --workspace"})
	}
	if len(w.may) > 0 && w.may[0] != w.set {
		out = append(out, Check{Name: worksName, Status: warn, Found: "--workspace is " + w.set +
			", and the locked paths.yaml says " + w.may[0] + ", which counts",
			Fix: "--workspace " + w.may[0]})
	}
	return out
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// rules checks whether the rules load.
func (p *Patient) rules() (out []Check) {
	r := p.Rules
	command := "gpt-oss-executor check " + r.Folder
	if r.Err != nil {
		return []Check{{Name: "rules", Status: fail, Found: r.Err.Error(),
			Fix: "gpt-oss-executor init " + r.Folder +
				" writes rules into it; or leave --rules out for the built-in ones"}}
	}
	for _, pr := range r.Problems {
		c := Check{Name: "rules", Status: fail, Found: fmt.Sprintf("%s:%d:%d: %s [%s]", pr.File, pr.Line,
			pr.Col, pr.Msg, pr.Code), Fix: pr.Hint}
		if pr.Warning {
			c.Status = warn
		}
		if c.Fix != "" {
			c.Fix += "; "
		}
		c.Fix += command + " shows it"
		out = append(out, c)
	}
	if len(out) == 0 {
		out = []Check{{Name: "rules", Status: ok, Found: fmt.Sprintf("the rules load: %s, version %s",
			r.Folder, p.Set.Version)}}
	}
	return out
}

// profile checks how strict the policy is.
func profile(set *ruleset.Set, folder string) Check {
	c := Check{Name: "policy", Status: ok, Found: "the profile of the policy is " + set.Profile()}
	if locked := set.LockedProfile(); locked != "" {
		c.Found += ", the locked one " + locked + "; the stricter of both holds"
		return c
	}
	more := map[string]string{"permissive": ": what no rule denies or asks about leaves",
		"audit-only": ": every call leaves, and is only logged"}[set.Profile()]
	if more != "" {
		c.Status, c.Found, c.Fix = warn, c.Found+more, "gpt-oss-executor policy profile developer --rules "+
			folder
	}
	return c
}

// shared checks the server that replicas share, if the settings name one.
func (p *Patient) shared(ctx context.Context) []Check {
	s := config.Of[replicas.Settings](&p.Settings)
	if s.Shared == "" {
		return nil
	}
	c := Check{Name: "shared", Status: fail}
	to, err := replicas.ConfigOf(*s, p.Settings.AdminToken)
	if err != nil {
		c.Found, c.Fix = err.Error(), "shared_wait: 50ms"
		return []Check{c}
	}
	p.say("asking the server that replicas share")
	took, err := replicas.Probe(ctx, to)
	switch {
	case err != nil:
		c.Found, c.Fix = "the server that replicas share: "+err.Error(), mendShared(err)
	case to.Secret == "":
		c.Status, c.Found = warn,
			"there is neither an admin_token nor a shared_password: a program that reaches the server can read thoughts there, and make up approvals"
		c.Fix = "give all replicas the same admin_token: admin_token: file:/etc/gpt-oss-executor/admin_token"
	default:
		c.Status, c.Found = ok, fmt.Sprintf("the server that replicas share answers in %s, and takes and gives what is sealed", took.Round(10*time.Microsecond))
		if took > cmp.Or(to.Wait, replicas.DefaultWait) {
			c.Status, c.Fix = warn, "requests do not wait so long for it: put it nearer, or set shared_wait to more"
		}
	}
	return []Check{c}
}

// mendShared returns the fix for an error.
func mendShared(err error) string {
	message := err.Error()
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(message, w) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, replicas.ErrForeign):
		return "give all replicas the same admin_token and version, or this group a shared_prefix of its own"
	case has("NOAUTH", "WRONGPASS", "AUTH"):
		return "set shared_user and shared_password as the server has them"
	case has("NOPERM"):
		return "let that user do what docs/replicas.md says in ACL SETUSER, with the same shared_prefix"
	case has("OOM"):
		return "give the server more maxmemory, and set its maxmemory-policy to volatile-lru"
	case has("READONLY"):
		return "name the server that takes writes, not its copy"
	case has("certificate", "tls"):
		return "set shared_ca to the certificates that sign the server's, and name it as its certificate does"
	case strings.HasPrefix(message, "shared"), strings.HasPrefix(message, "read shared_ca"):
		return "shared: redis://HOST:6379, rediss://HOST:6379 for TLS, or unix:///PATH"
	}
	return "start the server, or say where it is: shared: redis://HOST:6379"
}

// gateway checks the gateway, if the settings name one.
func (p *Patient) gateway(ctx context.Context) []Check {
	s := config.Of[run.Settings](&p.Settings)
	if s.Gateway == "" {
		p.say("no gateway is named with --gateway, and none is asked")
		return nil
	}
	c, err := run.NewGateway(run.GatewayConfig{URL: s.Gateway, Token: s.GatewayToken,
		Session: s.GatewaySession,
		Now:     time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return []Check{{Name: "gateway", Status: fail, Found: err.Error(),
			Fix: "--gateway http://127.0.0.1:18789"}}
	}
	p.say("asking the gateway at %s which tools it has", s.Gateway)
	return gatewayChecks(s.Gateway, s.GatewayToken != "", c.Probe(ctx, p.Set))
}

// gatewayChecks converts the result of probing a gateway.
func gatewayChecks(url string, token bool, found run.GatewayStatus) []Check {
	c := Check{Name: "gateway", Status: fail}
	switch found.Trouble {
	case run.GatewayAway:
		c.Found, c.Fix = url+" cannot be reached: "+found.Why,
			"openclaw gateway start, or name where it is: --gateway http://127.0.0.1:18789"
	case run.GatewayForeign:
		c.Found, c.Fix = "who answers at "+url+
			" is no gateway: "+found.Why,
			"name the gateway: --gateway http://127.0.0.1:18789 (gateway.port of openclaw.json)"
	case run.GatewayBusy:
		c.Status, c.Found, c.Fix = warn, "the gateway takes no calls now: "+
			found.Why, "wait a minute, then run gpt-oss-executor doctor again"
	case run.GatewayRefused:
		c.Found, c.Fix = url+" answers", ""
		c.Status = ok
		has := "it does not accept the token"
		if !token {
			has = "it wants a token, and none is set"
		}
		return []Check{c, {Name: "gateway_token", Status: fail, Found: has,
			Fix: "set OPENCLAW_GATEWAY_TOKEN to gateway.auth.token of openclaw.json; with a .env of the gateway, to what stands there"}}
	default:
		c.Status, c.Found = ok, url+" answers, and takes calls of tools"
		return []Check{c, {Name: "gateway_token", Status: ok, Found: "it accepts the token"},
			gatewayTools(found)}
	}
	return []Check{c}
}

func gatewayTools(found run.GatewayStatus) Check {
	c := Check{Name: "gateway_tools", Status: ok,
		Found: "/tools/invoke has the tools of gateway.yaml, as far as calls without arguments tell"}
	var what []string
	if len(found.Missing) > 0 {
		what = append(what, "/tools/invoke does not have "+strings.Join(found.Missing, ", "))
	}
	if len(found.Failing) > 0 {
		what = append(what, strings.Join(found.Failing, ", ")+" answers 500; it may have no key or no plugin")
	}
	if len(what) > 0 {
		c.Status, c.Found = warn, strings.Join(what, "; ")
		c.Fix = "turn on the plugin of each in openclaw.json and allow it in tools (openclaw plugins enable NAME), or take it out of gateway.yaml; runs do without it"
	}
	return c
}

// checkHealth asks the server at an address in the form of the setting listen whether it lives, or with ready
// whether it could serve a request. The error says why not.
func checkHealth(ctx context.Context, client *http.Client, listen string, ready bool) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%s is no address to listen on; write it as 127.0.0.1:8001", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // it listens on all addresses
		host = "127.0.0.1"
	}
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	at := net.JoinHostPort(host, port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", at, err)
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %s", at, upstream.Reason(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	var health struct {
		OK      bool     `json:"ok"`
		Ready   bool     `json:"ready"`
		Failing []string `json:"failing"`
	}
	switch err := json.Unmarshal(text, &health); {
	case err != nil:
		return fmt.Errorf("%s answered %s, and not as this program does", at, res.Status)
	case ready && len(health.Failing) > 0:
		return errors.New("not ready: " + strings.Join(health.Failing, "; "))
	case res.StatusCode != http.StatusOK || ready && !health.Ready || !ready && !health.OK:
		return fmt.Errorf("%s answered %s", at, res.Status)
	}
	return nil
}
