package openclaw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

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
