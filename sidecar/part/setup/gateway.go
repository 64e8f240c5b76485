package setup

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
)

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
		return []Check{c, {Name: "gateway_token", Status: ok, Found: "it accepts the token"}, tools(found)}
	}
	return []Check{c}
}

func tools(found run.GatewayStatus) Check {
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
