package openclaw

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// Merge returns a config with the settings that a sidecar needs. Everything else stays as it is, including
// comments, and settings that are equivalent or stricter.
func Merge(config []byte, s Sidecar) ([]byte, error) {
	root, err := jsonc.Parse(config)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, rewrite)
	}
	if root.Kind != jsonc.Object {
		return nil, fmt.Errorf("1:1: the config is %s, and must be an object", root.Kind)
	}
	for name, is := range apiNames {
		if s.API == "" && root.At("models", "providers", Provider, "api").Is(jsonc.String, is) {
			s.API = name
		}
	}
	m := &merger{text: config, root: root, s: s}
	m.repair(s)
	m.service()
	m.pairs(nil, Block(s))
	m.allow()
	return m.text, m.err
}

// merger holds a text while it changes. After an error it no longer changes.
type merger struct {
	text []byte
	root *jsonc.Value
	s    Sidecar
	err  error
}

func (m *merger) set(value any, path ...string) {
	m.change(path, func() ([]byte, error) { return jsonc.Set(m.text, value, path...) })
}

// change replaces the text, unless the changed part comes from another file.
func (m *merger) change(path []string, by func() ([]byte, error)) {
	if m.err != nil {
		return
	}
	text, err := by()
	if err == nil && string(text) != string(m.text) {
		err = m.included(path)
	}
	if err == nil {
		m.text = text
		m.root, err = jsonc.Parse(text)
	}
	m.err = err
}

// included returns an error if a path belongs to another file, whose content is unknown.
func (m *merger) included(path []string) error {
	for i := range path {
		in := m.root.At(path[:i]...).Get(include)
		if in == nil {
			continue
		}
		line, column := jsonc.Position(m.text, in.Start)
		return fmt.Errorf("%d:%d: %s is to be set, and this part comes from another file by $include; "+
			"move it back into this file, or add to the other one what gpt-oss-executor openclaw prints",
			line, column, strings.Join(path, "."))
	}
	return nil
}

const include = "$include"

// pairs sets the members of an object.
func (m *merger) pairs(path []string, members jsonc.Pairs) {
	for _, p := range members {
		at := append(path[:len(path):len(path)], p.Key)
		if m.keeps(at, p.Value) {
			continue
		}
		switch v := p.Value.(type) {
		case jsonc.Pairs:
			old := m.root.At(at...)
			if old != nil && old.Kind == jsonc.Object {
				m.pairs(at, v)
				continue
			}
			if old != nil && old.Kind == jsonc.String && p.Key == "model" { // the short form
				if !m.ours(old) {
					m.set(v[0].Value, at...)
				}
				continue
			}
		case jsonc.List:
			if p.Key == "models" && m.root.At(at...) != nil {
				m.models(at, v)
				continue
			}
		}
		m.set(p.Value, at...)
	}
}

// models sets the models of a provider, and keeps its others.
func (m *merger) models(path []string, models jsonc.List) {
	for _, model := range models {
		p := model.(jsonc.Pairs)
		list := m.root.At(path...)
		at := append(path[:len(path):len(path)], list.Index("id", p[0].Value.(string)))
		if m.root.At(at...) == nil {
			m.set(p, at...)
		} else {
			m.pairs(at, p)
		}
	}
}

// keeps reports whether the value at a path is the operator's and stays.
func (m *merger) keeps(path []string, value any) bool {
	old := m.root.At(path...)
	if old == nil {
		return false
	}
	switch key := path[len(path)-1]; key {
	case "name", "cost", "input", "readyTimeoutMs":
		return true
	case "contextWindow":
		return m.s.Guessed && old.Kind == jsonc.Number
	case "maxTokens":
		n, ok := old.Float()
		return m.s.Tokens == 0 && ok && n >= 1 && (m.s.window() == 0 || n <= float64(m.s.Window)/2)
	case "primary":
		return m.ours(old)
	case "args":
		return serves(old) // already renewed by service
	case "timeoutSeconds":
		n, _ := old.Float()
		return n >= Timeout
	case "enabled":
		return path[1] == "loopDetection"
	case "toolSearch":
		return old.Is(jsonc.Bool, "false") // offering all tools costs tokens, but works
	case "exec":
		return stricter(old)
	case "ask":
		return old.Is(jsonc.String, "always")
	case "baseUrl":
		return old.Kind == jsonc.String && sameServer(old.Text, value.(string)) &&
			strings.HasSuffix(strings.TrimSuffix(old.Text, "/"), "/v1")
	}
	return false
}

// ours reports whether a default model is one of the offered ones.
func (m *merger) ours(model *jsonc.Value) bool {
	provider, id, _ := strings.Cut(model.Text, "/")
	return model.Kind == jsonc.String && provider == Provider && slices.Contains(m.s.Models, id)
}

// stricter reports whether the gateway denies or asks about commands that the sidecar would allow. The
// operator may loosen that.
func stricter(exec *jsonc.Value) bool {
	mode, security := exec.Get("mode"), exec.Get("security")
	return mode != nil && !mode.Is(jsonc.String, "full") || security != nil &&
		!security.Is(jsonc.String, "full")
}

// repair removes what conflicts with our settings.
func (m *merger) repair(s Sidecar) {
	m.repairExec()
	if search := m.root.At("tools", "toolSearch"); search.Get("enabled").Is(jsonc.Bool, "false") {
		m.set(true, "tools", "toolSearch", "enabled")
	}
	for _, id := range s.Models {
		models := []string{"models", "providers", Provider, "models"}
		at := append(models, m.root.At(models...).Index("id", id), "compat")
		for _, key := range harmful {
			if m.root.At(append(at, key)...).Is(jsonc.Bool, "true") {
				m.set(false, append(at, key)...)
			}
		}
	}
}

// repairExec removes a mode beside the pair of security and ask, which OpenClaw refuses, or else the pair
// in favour of a mode with the same meaning.
func (m *merger) repairExec() {
	place := configPath{"tools", "exec"}
	exec := m.root.At(place...)
	pair := exec.Get("security") != nil || exec.Get("ask") != nil
	remove := []string{"mode"}
	switch {
	case m.s.ExecMode:
		remove = []string{"security", "ask"}
		if mode := modeOf(exec.Get("security"), exec.Get("ask")); exec.Get("mode") == nil && pair {
			m.set(cmp.Or(mode, "ask"), place.to("mode")...)
		}
	case exec == nil || stricter(exec):
		return
	}
	for _, key := range remove {
		m.change(place.to(key), func() ([]byte, error) { return jsonc.Remove(m.text, place.to(key)...) })
	}
}

// modeOf returns the mode with the meaning of a pair of security and ask; empty: none.
func modeOf(security, ask *jsonc.Value) string {
	switch {
	case security == nil || ask == nil:
		return ""
	case security.Is(jsonc.String, "deny") && !ask.Is(jsonc.String, "always"):
		return "deny"
	}
	return map[string]string{"allowlist off": "allowlist", "allowlist on-miss": "ask",
		"full off": "full"}[security.Text+" "+ask.Text]
}

// allow adds our models to the list of allowed ones, if there is one.
func (m *merger) allow() {
	path := []string{"agents", "defaults", "modelPolicy", "allow"}
	list := m.root.At(path...)
	if list != nil && len(list.Items) > 0 && !allows(list, Provider) {
		m.set(Provider+"/*", append(path, strconv.Itoa(len(list.Items)))...)
	}
}

// allows reports whether a list of models includes those of a provider.
func allows(list *jsonc.Value, provider string) bool {
	for i := range list.Items {
		v := list.Items[i]
		prefix, all := strings.CutSuffix(v.Text, "*")
		if v.Kind == jsonc.String && (strings.HasPrefix(v.Text, provider+"/") ||
			all && strings.HasPrefix(provider+"/", prefix)) {
			return true
		}
	}
	return false
}

// service updates our flags and variables in an existing service, by name. Additions of the user stay.
func (m *merger) service() {
	s, place := m.s.Service, configPath{"models", "providers", Provider, "localService"}
	args, health, env := place.to("args"), place.to("healthUrl"), place.to("env")
	if s == nil || !serves(m.root.At(args...)) {
		return
	}
	m.flag(args, "--listen", s.Listen, func(old string) bool { return port(old) == port(s.Listen) })
	m.flag(args, "--upstream", s.Upstream, func(string) bool { return s.Guessed })
	m.flag(args, withParent, "", func(string) bool { return true })
	if old := m.root.At(health...); old != nil && !sameServer(old.Text, m.s.URL) {
		m.set(healthURL(m.s.URL), health...)
	}
	if s.Command == "" { // its environment is a different one
		return
	}
	for _, v := range m.root.At(env...).AllMembers() {
		if set := slices.ContainsFunc(s.Env,
			func(p jsonc.Pair) bool { return p.Key == v.Key }); IsSetting(v.Key) && !set {
			m.change(env.to(v.Key), func() ([]byte, error) { return jsonc.Remove(m.text, env.to(v.Key)...) })
		}
	}
}

// serves reports whether arguments start the sidecar.
func serves(args *jsonc.Value) bool { return args.At("0").Is(jsonc.String, "serve") }

// flag sets a flag in a list of arguments, unless its value is good. The last occurrence counts. A missing
// flag is added if Command is set.
func (m *merger) flag(args configPath, name, value string, good func(old string) bool) {
	item := func(i int) []string { return args.to(strconv.Itoa(i)) }
	list := m.root.At(args...)
	for i := len(list.Items) - 1; i > 0; i-- {
		flag, old, joined := strings.Cut(list.Items[i].Text, "=")
		if flag != name {
			continue
		}
		if next := m.root.At(item(i + 1)...); !joined && next != nil {
			old = next.Text
		}
		switch {
		case good(old):
		case joined:
			m.set(name+"="+value, item(i)...)
		default:
			m.set(value, item(i+1)...)
		}
		return
	}
	if m.s.Service.Command == "" {
		return
	}
	m.set(name, item(len(list.Items))...)
	if value != "" {
		m.set(value, item(len(list.Items)+1)...)
	}
}

// port returns the port of an address.
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// Started returns the settings of the sidecar that a gateway starts, as NAME=value. Variables in them are
// expanded; settings with an unknown variable are left out.
func Started(config []byte, lookup func(name string) (string, bool)) (environ []string) {
	root, err := jsonc.Parse(config)
	if err != nil {
		return nil
	}
	service := root.At("models", "providers", Provider, "localService")
	if service == nil || !serves(service.Get("args")) {
		return nil
	}
	add := func(name, value string) {
		if inner, is := strings.CutPrefix(value, "${"); is {
			known := false
			if value, known = lookup(strings.TrimSuffix(inner, "}")); !known {
				return
			}
		}
		environ = append(environ, name+"="+strings.ReplaceAll(value, "$${", "${"))
	}
	for _, v := range service.Get("env").AllMembers() {
		if strings.HasPrefix(v.Key, prefix) {
			add(v.Key, v.Value.Text)
		}
	}
	args := service.Get("args").Items
	for i, arg := range args {
		name, value, joined := strings.Cut(arg.Text, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1].Text
		}
		if flag, is := strings.CutPrefix(name, "--"); is && value != "" && !strings.HasPrefix(value, "--") {
			add(prefix+strings.ToUpper(strings.ReplaceAll(flag, "-", "_")), value)
		}
	}
	return environ
}
