package service

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// greeting is what a person reads at start. It holds no secret.
type greeting struct {
	version   string // of the program
	chat      string // base URL of the provider
	admin     string // address of the admin API; "": none
	console   bool   // it is served
	answers   bool   // approvals can be answered
	token     bool   // callers need one
	upstreams []upstream.FleetState
	trouble   error // why no request can be served; nil: they can
	set       *ruleset.Set
	folder    string // of the rules, as people name it
	confined  bool   // commands of the gateway are
	shared    string // where replicas share their knowledge; "": this one is alone
	ceilings  limits
}

// String returns the greeting in complete lines.
func (g *greeting) String() string {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "  %-12s %s\n", name, text) }
	fmt.Fprintf(&b, "gpt-oss-executor %s\n", cmp.Or(g.version, "(no version)"))
	line("for agents", g.chat+either(g.token, "", "  no token is asked for"))
	shown := false
	for _, u := range g.upstreams {
		line("model server", u.Address+"  "+serverText(u))
		shown = shown || u.Why != ""
	}
	if g.trouble != nil {
		line("", "no request can be served yet"+either(shown, "", ": "+g.trouble.Error()))
	}
	var models []string
	for _, m := range g.set.Models {
		models = append(models, m.ID.Value)
	}
	line("models", strings.Join(models, ", "))
	line("rules", g.folder+"  version "+g.set.Version)
	policy := "profile " + g.set.Profile()
	if locked := g.set.LockedProfile(); locked != "" {
		policy += either(locked == "permissive", "; the locked folder only tightens it",
			"; the locked folder is "+locked+", and the stricter one holds")
	}
	line("policy", policy+either(g.answers, "", "; no person can answer what it asks about"))
	if memory := g.ceilings.memoryText(g.set.Limits.Load); memory != "" {
		line("memory", memory)
	}
	if short := g.ceilings.filesShort(g.set.Limits.Load); short != "" {
		line("files", short)
	}
	line("commands", either(g.confined, "run confined where the gateway runs them",
		"are not confined where the gateway runs them"))
	if g.shared != "" {
		line("replicas", "share "+g.shared)
	}
	switch {
	case g.console:
		line("console", g.admin+"/")
	case g.admin != "":
		line("admin API", g.admin)
	default:
		line("console", "off: set --admin 127.0.0.1:8002")
	}
	return b.String()
}

// serverText describes a model server.
func serverText(u upstream.FleetState) string {
	if u.Why != "" {
		return u.Why
	}
	if u.Window > 0 {
		return fmt.Sprintf("%s, a window of %d tokens", u.Server, u.Window)
	}
	return u.Server
}

func either(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// greet writes the greeting. Its failure is ignored, since the log says the same.
func (r *running) greet(chat string, upstreams []upstream.FleetState, trouble error) {
	g := &greeting{
		version: built.Version(), chat: chat, admin: r.admin, console: r.AdminPages != nil,
		answers: r.Guard.Approvals != nil, token: r.Settings.Token != "",
		upstreams: upstreams, trouble: trouble, set: r.Rules.Set(), folder: r.Named,
		confined: r.Guard.Confiner != nil, shared: r.Shared, ceilings: r.ceilings,
	}
	_, _ = r.Greet.Write([]byte(g.String()))
}
