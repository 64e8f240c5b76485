package openclaw

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// agents checks the settings of agents: the defaults first, then the agents with settings of their own.
func (c *checker) agents() {
	defaults := configPath{"agents", "defaults"}
	c.model("default_model", defaults.to("model"), true)
	c.model("subagent_model", defaults.to("subagents", "model"), false)
	c.policy(defaults.to("modelPolicy", "allow"))
	c.toolSearch(configPath{"tools", "toolSearch"})
	c.exec(configPath{"tools", "exec"})
	c.loops(configPath{"tools", "loopDetection", "enabled"}, true)
	entries := configPath{"agents", "entries"}
	list := c.root.At(entries...)
	for i := range list.AllMembers() {
		agent := entries.to(list.Members[i].Key)
		if c.root.At(agent.to("model")...) != nil {
			c.model("default_model", agent.to("model"), true)
		}
		c.model("subagent_model", agent.to("subagents", "model"), false)
		c.policy(agent.to("modelPolicy", "allow"))
		if c.root.At(agent.to("tools", "exec")...) != nil {
			c.exec(agent.to("tools", "exec"))
		}
		c.loops(agent.to("tools", "loopDetection", "enabled"), false)
	}
}

// model checks which model agents use. A subagent without one uses that of its agent.
func (c *checker) model(name string, place configPath, needed bool) {
	v := c.root.At(place...)
	if v != nil && v.Kind == jsonc.Object {
		place = place.to("primary")
		v = v.Get("primary")
	}
	what := strings.Join(place[len(place)-1:], "")
	if v == nil && !needed {
		return
	}
	if v != nil && v.Kind == jsonc.String && strings.Contains(v.Text, "${") {
		return
	}
	fix := c.s.model()
	found := what + " is " + c.shown(v)
	if v == nil || v.Kind != jsonc.String {
		c.add(name, Warn, place, found+": it is not known to use the sidecar", fix)
		return
	}
	provider, id, _ := strings.Cut(v.Text, "/")
	for _, ours := range c.ours {
		if provider == ours {
			c.when(c.listed(ours, id), Fail, name, place, found, ", which that provider does not have", fix)
			return
		}
	}
	c.add(name, Warn, place, found+": it does not use the sidecar", fix+", if it should")
}

// listed reports whether a provider has a model.
func (c *checker) listed(provider, id string) bool {
	list := c.root.At("models", "providers", provider, "models")
	return list != nil && c.root.At("models", "providers", provider, "models", list.Index("id", id)) != nil
}

// policy checks the list of allowed models, if there is one.
func (c *checker) policy(place configPath) {
	list := c.root.At(place...)
	if list == nil || len(list.Items) == 0 || len(c.ours) == 0 {
		return
	}
	for _, ours := range c.ours {
		if allows(list, ours) {
			c.add("model_policy", OK, place, "the models of the sidecar may be used", "")
			return
		}
	}
	c.add("model_policy", Fail, place, "the list of models that may be used has none of the sidecar",
		"add \""+c.ours[0]+"/*\" to it")
}

func (c *checker) toolSearch(place configPath) {
	v := c.root.At(place...)
	if v.Is(jsonc.Bool, "false") {
		c.add("tool_search", Warn, place,
			"toolSearch is false: all tools are sent with every request, about 100 KB", `"toolSearch": { "mode": "directory" }`)
		return
	}
	if v.Get("enabled").Is(jsonc.Bool, "false") {
		c.add("tool_search", Warn, place.to("enabled"),
			"toolSearch is not enabled: all tools are sent with every request, about 100 KB", `"toolSearch": { "mode": "directory" }`)
		return
	}
	found := "toolSearch is " + c.shown(v)
	if v != nil && v.Kind == jsonc.Object {
		place = place.to("mode")
		found = "mode of toolSearch is " + c.shown(v.Get("mode"))
	}
	c.when(v.Get("mode").Is(jsonc.String, "directory"), Fail, "tool_search", place, found,
		`: most tools are only named in the prompt, and calls of them are answered with "Tool X not found"`,
		`"toolSearch": { "mode": "directory" }`)
}

// exec checks whether OpenClaw asks about exactly the calls that say so.
func (c *checker) exec(place configPath) {
	v := c.root.At(place...)
	mode, all := v.Get("mode"), c.root.At("tools", "exec") // an agent inherits the rest
	security, ask := v.Get("security"), v.Get("ask")
	if mode == nil {
		security, ask = cmp.Or(security, all.Get("security")), cmp.Or(ask, all.Get("ask"))
	}
	const fix = `"exec": { "security": "full", "ask": "on-miss" }, without mode`
	const decides = fix + ", if the policy of the sidecar is to decide"
	switch {
	case mode != nil && (security != nil || ask != nil):
		c.add("exec", Fail, place.to("mode"),
			"mode stands beside security or ask: OpenClaw refuses the config", fix)
	case mode.Is(jsonc.String, "deny") || security.Is(jsonc.String, "deny"):
		c.add("exec", Fail, place, "exec is denied: no command runs", fix)
	case mode.Is(jsonc.String, "auto"):
		c.add("exec", Warn, place.to("mode"),
			"mode is "+c.shown(mode)+
				": OpenClaw has a model review what is not on its own list, through the sidecar if that model is one of ours, "+
				"and a person is asked about what the policy marks", decides)
	case mode != nil && stricter(v):
		c.add("exec", Warn, place.to("mode"),
			"mode is "+c.shown(mode)+
				": OpenClaw has a list of its own beside the policy of the sidecar, and what is not on it is asked about or denied", decides)
	case mode != nil:
		c.add("exec", Fail, place.to("mode"),
			"mode is "+c.shown(mode)+": commands about which the policy asks a person run at once", fix)
	case !ask.Is(jsonc.String, "on-miss") && !ask.Is(jsonc.String, "always"):
		c.add("exec", Fail, place.to("ask"),
			"ask is "+c.shown(ask)+": commands about which the policy asks a person run at once", fix)
	case security != nil && !security.Is(jsonc.String, "full"):
		c.add("exec", Warn, place.to("security"), "security is "+c.shown(security)+
			": OpenClaw has a list of its own beside the policy of the sidecar, and asks about all that is not on it", decides)
		c.execPair(place, security, ask)
	default:
		c.add("exec", OK, place,
			"OpenClaw asks about the commands that the policy marks; no mode says the same", "")
		c.execPair(place, security, ask)
	}
}

// execPair reports security and ask where OpenClaw has a mode, which overrides them.
func (c *checker) execPair(place configPath, security, ask *jsonc.Value) {
	switch mode := modeOf(security, ask); {
	case security == nil || ask == nil:
		c.add("exec_pair", Warn, place,
			"one of security and ask stands without the other: OpenClaw cannot tell which mode is meant when that takes their place", `"exec": { "security": "full", "ask": "on-miss" }`)
	case mode != "":
		c.add("exec_pair", Warn, place,
			fmt.Sprintf("security and ask are the old way to say mode: %q, and will go", mode),
			fmt.Sprintf(`"exec": { "mode": %q } in place of the two; openclaw doctor --fix does it`, mode))
	}
}

func (c *checker) loops(place configPath, needed bool) {
	v := c.root.At(place...)
	if v == nil && !needed {
		return
	}
	c.when(v.Is(jsonc.Bool, "true"), Warn, "loop_detection", place, "loopDetection.enabled is "+c.shown(v),
		": nothing stops a model that makes the same call again and again", `"tools": { "loopDetection": { "enabled": true } }`)
}
