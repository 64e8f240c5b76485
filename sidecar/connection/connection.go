// Package connection knows how to connect an agent to the sidecar: where its config is, and which settings in
// it lead to the sidecar. The facts of each agent are data, in agents/*.yaml. It merges the settings into a
// config in JSON, TOML or YAML, and is pure: texts and values in, texts out.
package connection

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Connection is how an agent is connected.
type Connection struct {
	About    string          `rule:"about" doc:"Whose settings these are, and for which version they were tried. Operators read it."`
	Configs  []Config        `rule:"configs" doc:"The config files of the agent. --write FILE writes the first one."`
	Key      Key             `rule:"key" doc:"How the agent is told which token the sidecar wants."`
	Commands []rulefile.Text `rule:"commands" doc:"Commands of the agent that set it up, in place of a config, or beside it. They are printed." eg:"['cline auth -b {url}']"`
	Remarks  []rulefile.Text `rule:"remarks" doc:"What else is to be known, or to be set. They are printed." eg:"['start it with: pi --model {model}']"`
}

// Config is one config file of an agent.
type Config struct {
	Folders  []rulefile.Text `rule:"folders,required" doc:"The folder of the file: the first of these whose variables are all set. ~ is the home folder." eg:"['${CODEX_HOME}', ~/.codex]"`
	Names    []rulefile.Text `rule:"names,required" doc:"The name of the file: the first of these that exists, or else the first." eg:"[config.toml]"`
	Format   rulefile.Text   `rule:"format,required" one:"json toml yaml" doc:"How the file is written. json also takes comments and trailing commas."`
	Settings rulefile.Values `rule:"settings,required" doc:"What must stand in the file. Of a list, items are added; one that is an object is found by its first key. {url}, {origin} (without /v1), {model}, {key}, {variable} (that of the key), {context_window} and {max_tokens} are filled in; what has no value is left out. An entry that names {model} in its key, or as an item of a list, is written for each model." eg:"{model: '{model}', model_providers: {gpt-oss-executor: {base_url: '{url}'}}}"`
	Keep     []rulefile.Text `rule:"keep" doc:"Keys whose values stay as they are, where the file has some." eg:"[name]"`
}

// Key is how a token is named.
type Key struct {
	None     rulefile.Text `rule:"none" doc:"The key where the sidecar wants none. Without it, no key is written." eg:"none"`
	Name     rulefile.Text `rule:"name" doc:"The environment variable that {variable} stands for where the user names none." eg:"GPTOSS_EXECUTOR_KEY"`
	Variable rulefile.Text `rule:"variable" doc:"How the config refers to an environment variable of the agent, with {variable} for its name. Without it, it cannot." eg:"'{env:{variable}}'"`
}

// Told returns all settings and commands for the agent.
func (c *Connection) Told(s Sidecar) (out string) {
	for _, config := range c.Configs {
		text, _ := config.Merge(nil, c.Key, s)
		out += string(text)
	}
	for _, command := range c.Commands {
		text, _ := s.Say(command.Value, c.Key)
		out += text
	}
	return out
}

// Agents are connections by the name of the agent.
type Agents map[string]Connection

// Names returns the names of the agents, sorted.
func (a Agents) Names() []string { return slices.Sorted(maps.Keys(a)) }

// Known reports whether a config or a command is known.
func (c *Connection) Known() bool { return len(c.Configs)+len(c.Commands) > 0 }

// Problems returns unknown placeholders, and configs without a folder or a name.
func (c *Connection) Problems() (out rulefile.Problems) {
	unknown := func(at rulefile.Place, value any, where string) {
		for _, name := range placeholdersOf(value) {
			if !slices.Contains(placeholders, name) {
				out = append(out, at.Problem(rulefile.CodeRef, "{"+name+"}"+where+" stands for nothing",
					rulefile.DidYouMean(name, placeholders)))
			}
		}
	}
	for _, config := range c.Configs {
		unknown(config.Settings.At, config.Settings.Members, " in the settings")
		if len(config.Names) == 0 || len(config.Folders) == 0 {
			out = append(out, config.Format.All().Problem(rulefile.CodeValue,
				"this config has no folder or no name", ""))
		}
	}
	for _, text := range slices.Concat(c.Commands, c.Remarks) {
		unknown(text.All(), text.Value, "")
	}
	return out
}

var placeholders = []string{"url", "origin", "model", "key", "variable", "context_window", "max_tokens"}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// placeholdersOf returns the names in braces in a value.
func placeholdersOf(value any) (out []string) {
	switch v := value.(type) {
	case string:
		for _, m := range placeholder.FindAllStringSubmatch(v, -1) {
			out = append(out, m[1])
		}
	case []any:
		for _, item := range v {
			out = append(out, placeholdersOf(item)...)
		}
	case []rulefile.Member:
		for _, m := range v {
			out = append(out, placeholdersOf(m.Key)...)
			out = append(out, placeholdersOf(m.Value)...)
		}
	}
	return out
}

// Path returns the path of the config: in the first folder whose variables are set, the first name that
// exists, or else the first.
func (c *Config) Path(variable func(name string) string, exists func(path string) bool) string {
	folder := ""
	for _, f := range c.Folders {
		complete := true
		folder = pathVariable.ReplaceAllStringFunc(f.Value, func(ref string) string {
			value := variable(strings.Trim(ref, "${}"))
			complete = complete && value != ""
			return value
		})
		if complete {
			break
		}
	}
	if rest, home := strings.CutPrefix(folder, "~/"); home {
		folder = path.Join(variable("HOME"), rest)
	}
	for _, name := range c.Names {
		if whole := path.Join(folder, name.Value); exists(whole) {
			return whole
		}
	}
	return path.Join(folder, c.Names[0].Value)
}

var pathVariable = regexp.MustCompile(`\$\{\w+\}`)

// Diff returns the difference between two texts of a config, as diff -u does, with secrets masked; empty: no
// difference. A changed secret gets another number. If a text cannot be parsed, its secrets are unknown, and
// Diff shows nothing.
func Diff(name, format string, before, after []byte) string {
	m := masker{parse: formatOf(format).parse, numbers: map[string]string{}}
	was, err := m.mask(before)
	is, newErr := m.mask(after)
	if err = cmp.Or(err, newErr); err != nil && !bytes.Equal(before, after) {
		return fmt.Sprintf("%s:%v\nno difference is shown, since secrets could not be masked\n", name, err)
	}
	text := string(diff.Diff(name, was, name+" (new)", is))
	_, text, _ = strings.Cut(text, "\n") // "diff A B"
	return text
}

// masker numbers secrets.
type masker struct {
	parse   func(text []byte) (*jsonc.Value, error)
	numbers map[string]string
}

// mask replaces the secrets in a text.
func (m masker) mask(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	root, err := m.parse(text)
	if err != nil {
		return nil, err
	}
	var found []*jsonc.Value
	m.eachSecret(root, "", func(v *jsonc.Value) { found = append(found, v) })
	// a table of TOML may go on elsewhere
	slices.SortFunc(found, func(a, b *jsonc.Value) int { return a.Start - b.Start })
	var out strings.Builder
	at := 0
	for _, v := range found {
		out.Write(text[at:v.Start])
		out.WriteString(`"` + m.number(v.Text) + `"`)
		at = v.End
	}
	out.Write(text[at:])
	return []byte(secrets.Forms(out.String(), func(_, secret string) string { return m.number(secret) })), nil
}

func (m masker) number(secret string) string {
	if m.numbers[secret] == "" {
		m.numbers[secret] = fmt.Sprintf("«secret %d»", len(m.numbers)+1)
	}
	return m.numbers[secret]
}

// eachSecret calls for each string whose name is that of a secret.
func (m masker) eachSecret(v *jsonc.Value, name string, is func(v *jsonc.Value)) {
	if v.Kind == jsonc.String && v.Text != "" && v.End > v.Start && secretName.MatchString(name) &&
		!variableName.MatchString(name) && !reference.MatchString(v.Text) {
		is(v)
	}
	for i := range v.Items {
		m.eachSecret(&v.Items[i], name, is)
	}
	for i := range v.Members {
		below := v.Members[i].Key
		if name == "env" || name == "vars" || name == "headers" {
			below = name // what stands there may be secret under any name
		}
		m.eachSecret(&v.Members[i].Value, below, is)
	}
}

var (
	secretName   = regexp.MustCompile(`(?i)(?:key|token|secret|password|passphrase|passwd|credentials?|authorization|cookie|webhook(?:url)?|private|^env|^vars|^headers)s?$`)
	variableName = regexp.MustCompile(`(?i)env_?key$`)
	reference    = regexp.MustCompile(`^\$\{?[A-Z_][A-Z0-9_]*\}?$|^\{env:\w+\}$|^\$\{\{ secrets\.\w+ \}\}$|^file:`)
)
