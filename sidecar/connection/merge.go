package connection

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Sidecar is what a config needs to know of the sidecar.
type Sidecar struct {
	URL    string   // base URL, such as http://127.0.0.1:8001/v1
	Key    string   // bearer token, or ${VARIABLE} of the agent; empty: none
	Models []string // ids, the default first
	Serves []string // all ids that it serves
	Window Tokens   // context window
	Reply  Tokens   // limit of a reply
}

// Tokens is a number of tokens. A guessed number does not replace one in a config.
type Tokens struct {
	Number  int
	Guessed bool
}

// format reads and changes a config.
type format struct {
	parse  func(text []byte) (*jsonc.Value, error)
	set    func(text []byte, value any, path ...string) ([]byte, error)
	tables bool // an object is written key by key, as a table
}

// The formats of configs.
const (
	JSON = "json"
	TOML = "toml"
	YAML = "yaml"
)

func formatOf(name string) format {
	switch name {
	case TOML:
		return format{parseTOML, setTOML, true}
	case YAML:
		return format{rulefile.ParseYAML, rulefile.SetYAML, false}
	}
	return format{jsonc.Parse, jsonc.Set, false}
}

// Merge sets the settings that lead the agent to a sidecar in the text of a config. Everything else, comments
// included, stays.
func (c *Config) Merge(text []byte, key Key, s Sidecar) ([]byte, error) {
	f := formatOf(c.Format.Value)
	if c.Format.Value == JSON && len(strings.TrimSpace(string(text))) == 0 {
		text = []byte("{}\n")
	}
	root, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	if root.Kind != jsonc.Object {
		return nil, fmt.Errorf("1:1: the config is %s, and must be an object", root.Kind)
	}
	m := &merger{format: f, text: text, root: root, s: s, key: key, changed: map[string]bool{}}
	for _, k := range c.Keep {
		m.keep = append(m.keep, k.Value)
	}
	m.setMembers(nil, c.Settings.Members, s.Models[0])
	if m.err != nil {
		return nil, m.err
	}
	return m.text, m.checkUnchanged(root)
}

// merger changes a text step by step, until the first error.
type merger struct {
	format
	text    []byte
	root    *jsonc.Value
	s       Sidecar
	key     Key
	keep    []string
	changed map[string]bool // paths that were set
	err     error
}

// setMembers sets the members of an object.
func (m *merger) setMembers(path []string, members []rulefile.Member, model string) {
	for _, member := range members {
		for _, e := range m.modelsFor(member.Key, model) {
			if key, ok := m.fill(member.Key, e).(string); ok {
				m.setValue(append(path[:len(path):len(path)], key), member.Value, e)
			}
		}
	}
}

// modelsFor returns the models for which an entry is written: all if it names {model}, else the given one.
func (m *merger) modelsFor(names any, model string) []string {
	if slices.Contains(placeholdersOf(names), "model") {
		return m.s.Models
	}
	return []string{model}
}

// setValue sets a value, or the missing parts of it.
func (m *merger) setValue(path []string, value any, model string) {
	old := m.root.At(path...)
	members, isObject := value.([]rulefile.Member)
	list, isList := value.([]any)
	switch {
	case isObject && (m.tables || old != nil && old.Kind == jsonc.Object):
		m.setMembers(path, members, model)
	case isObject && old != nil && old.Kind != jsonc.Null:
		m.refuse(path, old, jsonc.Object)
	case isList && old != nil && old.Kind == jsonc.Array:
		for _, item := range m.listItems(list, model) {
			m.setItem(path, item)
		}
	case isList && old != nil && old.Kind != jsonc.Null:
		m.refuse(path, old, jsonc.Array)
	case !m.keepsOld(path, value, old):
		m.put(path, m.expand(value, model))
	}
}

// listItem is an item of a list for a model.
type listItem struct {
	value any
	model string
}

// listItems returns the items of a list; an object that names {model} occurs once per model.
func (m *merger) listItems(list []any, model string) (out []listItem) {
	for _, item := range list {
		models := []string{model}
		if _, isObject := item.([]rulefile.Member); isObject {
			models = m.modelsFor(item, model)
		}
		for _, id := range models {
			out = append(out, listItem{item, id})
		}
	}
	return out
}

// setItem sets an item of an existing list.
func (m *merger) setItem(path []string, item listItem) {
	list := m.root.At(path...)
	whole := m.expand(item.value, item.model)
	at := func(i string) []string { return append(path[:len(path):len(path)], i) }
	members, isObject := item.value.([]rulefile.Member)
	if !isObject {
		if !slices.ContainsFunc(list.Items, func(i jsonc.Value) bool { return jsonc.Same(&i, whole) }) {
			m.put(at(strconv.Itoa(len(list.Items))), whole)
		}
		return
	}
	name, _ := whole.(jsonc.Pairs)[0].Value.(string)
	i := list.Index(whole.(jsonc.Pairs)[0].Key, name)
	if m.root.At(at(i)...) == nil {
		m.put(at(i), whole)
		return
	}
	m.setMembers(at(i), members, item.model)
}

func (m *merger) refuse(path []string, old *jsonc.Value, want jsonc.Kind) {
	if m.err == nil {
		line, column := jsonc.Position(m.text, old.Start)
		m.err = fmt.Errorf("%d:%d: %s is %s, and must be %s here; change it by hand", line, column,
			strings.Join(path, "."), old.Kind, want)
	}
}

// put sets a complete value; nil: nothing.
func (m *merger) put(path []string, value any) {
	if m.err != nil || value == nil {
		return
	}
	text, err := m.format.set(m.text, value, path...)
	if err == nil && string(text) != string(m.text) {
		m.changed[strings.Join(path, "\x00")] = true
		m.text = text
		m.root, err = m.parse(text)
	}
	m.err = err
}

// expand fills in all placeholders of a value; nil: one has no value.
func (m *merger) expand(value any, model string) any {
	switch v := value.(type) {
	case []rulefile.Member:
		p := jsonc.Pairs{}
		for _, member := range v {
			for _, e := range m.modelsFor(member.Key, model) {
				key, ok := m.fill(member.Key, e).(string)
				if with := m.expand(member.Value, e); ok && with != nil {
					p = append(p, jsonc.Pair{Key: key, Value: with})
				}
			}
		}
		return p
	case []any:
		list := jsonc.List{}
		for _, item := range m.listItems(v, model) {
			if with := m.expand(item.value, item.model); with != nil {
				list = append(list, with)
			}
		}
		return list
	case string:
		return m.fill(v, model)
	}
	return value
}

// fill fills in the placeholders of a text; nil: one has no value. A placeholder of a number alone gives a
// number.
func (m *merger) fill(text, model string) any {
	f := m.s.placeholderValues(m.key, model)
	switch text {
	case "{context_window}":
		return m.s.Window.Number
	case "{max_tokens}":
		return m.s.Reply.Number
	}
	lacks := false
	text = placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value := f[strings.Trim(name, "{}")]
		lacks = lacks || value == ""
		return value
	})
	if lacks {
		return nil
	}
	return text
}

// placeholderValues returns the values of placeholders. If the key is a variable, the agent's config refers
// to it in its own syntax, if any.
func (s *Sidecar) placeholderValues(key Key, model string) map[string]string {
	f := map[string]string{
		"url": s.URL, "origin": strings.TrimSuffix(s.URL, "/v1"), "model": model,
		"context_window": strconv.Itoa(s.Window.Number), "max_tokens": strconv.Itoa(s.Reply.Number),
		"variable": cmp.Or(s.Variable(), key.Name.Value), "key": s.Key,
	}
	switch name := s.Variable(); {
	case name != "":
		f["key"] = strings.ReplaceAll(key.Variable.Value, "{variable}", name)
	case s.Key == "":
		f["key"] = key.None.Value
	}
	return f
}

// Variable returns the environment variable that holds the key; empty: none does.
func (s *Sidecar) Variable() string {
	if m := variable.FindStringSubmatch(s.Key); m != nil {
		return m[1]
	}
	return ""
}

var variable = regexp.MustCompile(`^\$\{(\w+)\}$`)

// Say fills in the placeholders of a text for people; false: one has no value.
func (s *Sidecar) Say(text string, key Key) (string, bool) {
	m := merger{s: *s, key: key}
	model, ok := m.fill(text, s.Models[0]).(string)
	return model, ok
}

// keepsOld reports whether the existing value belongs to the user and stays.
func (m *merger) keepsOld(path []string, value any, old *jsonc.Value) bool {
	if old == nil || old.Kind == jsonc.Null {
		return false
	}
	text, _ := value.(string)
	_, isNumber := old.Float()
	switch {
	case slices.Contains(m.keep, path[len(path)-1]):
		return true
	case text == "{context_window}":
		return m.s.Window.Guessed && isNumber
	case text == "{max_tokens}":
		return m.s.Reply.Guessed && isNumber
	case slices.Contains(placeholdersOf(text), "model"): // the default is another one of ours
		return slices.ContainsFunc(m.s.Serves,
			func(id string) bool { return old.Is(jsonc.String, fmt.Sprint(m.fill(text, id))) })
	}
	return false
}

// checkUnchanged returns an error if anything but the set values has changed. That would be a bug of an edit;
// the user's settings are worth more than ours.
func (m *merger) checkUnchanged(before *jsonc.Value) error {
	was, is := map[string]string{}, map[string]string{}
	scalars(was, before, "")
	scalars(is, m.root, "")
	for _, path := range slices.Sorted(maps.Keys(was)) {
		if is[path] != was[path] && !m.changed[path] {
			return fmt.Errorf("1:1: %s would have changed with what is to be set; change it by hand",
				strings.ReplaceAll(path, "\x00", "."))
		}
	}
	return nil
}

// scalars collects the values of a tree by their paths.
func scalars(into map[string]string, v *jsonc.Value, path string) {
	at := func(step string) string { return strings.TrimPrefix(path+"\x00"+step, "\x00") }
	for i := range v.Members {
		scalars(into, &v.Members[i].Value, at(v.Members[i].Key))
	}
	for i := range v.Items {
		scalars(into, &v.Items[i], at(strconv.Itoa(i)))
	}
	if v.Kind != jsonc.Object && v.Kind != jsonc.Array && v.Kind != jsonc.Null {
		into[path] = v.Kind.String() + " " + v.Text
	}
}
