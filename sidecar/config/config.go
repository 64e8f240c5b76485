// Package config reads the settings of the process at start: from a config file, the environment and flags.
// It says nothing about replies or calls, which is up to the rule files.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Settings is the configuration of the process, read once at start from a config file, the environment and
// flags; rules about replies are in the rule files. The tag "is" names the kind of a value; a token is a
// secret for a header. Secrets have no flags, since every user of a machine can read command lines.
type Settings struct {
	Parts         []any  // of parts of the program: pointers to structs of such fields
	Listen        string `rule:"listen" is:"HOST:PORT" doc:"The address to serve on: HOST:PORT." eg:"127.0.0.1:8001"`
	Upstream      string `rule:"upstream" is:"URL" doc:"The base URL of the model server, with or without /v1." eg:"http://127.0.0.1:8000/v1"`
	UpstreamKey   string `rule:"upstream_key" is:"token" doc:"The bearer token that the model server wants." eg:"${VLLM_API_KEY}"`
	UpstreamKeys  string `rule:"upstream_keys" is:"secret" doc:"The bearer tokens of the other model servers that models.yaml names: on each line a base URL and its key. Each server gets its own, and no other." eg:"file:/run/secrets/upstream_keys"`
	Server        string `rule:"server" is:"ID" doc:"A dialect of servers.yaml. If left out, the server is asked." eg:"vllm"`
	Rules         string `rule:"rules" is:"DIR" word:"builtin" doc:"The folder of rule files. It is watched for edits. If left out, the built-in rules are in force." eg:"/etc/gpt-oss-executor/rules"`
	Policy        string `rule:"policy" is:"DIR" doc:"The locked folder of the security team. Its rules only tighten those of the operator." eg:"/etc/gpt-oss-executor/policy"`
	Workspace     string `rule:"workspace" is:"DIR" doc:"The folder where agents work. If left out, paths.yaml and the gateway say it. A workspace in the locked folder outranks it." eg:"/home/sam/code/shop"`
	State         string `rule:"state" is:"DIR" doc:"The folder that remembers the rule sets that were in force. If the rules do not load at start, the last good set serves." eg:"/var/lib/gpt-oss-executor"`
	Decisions     string `rule:"decisions" is:"DIR" word:"off" doc:"The folder of the log of what the policy decided, or off. If left out, it is the folder decisions in state, if state is set." eg:"/var/lib/gpt-oss-executor/decisions"`
	DecisionsMode string `rule:"decisions_mode" is:"MODE" with:"decisions state" one:"written synced required" doc:"How safe a record is before its call leaves. written: the operating system has it. synced: the disk has it. required: the disk has it, and without a record no call leaves."`
	Admin         string `rule:"admin" is:"HOST:PORT" doc:"The address of the admin API: HOST:PORT. If left out, there is no admin API." eg:"127.0.0.1:8002"`
	AdminToken    string `rule:"admin_token" is:"token" doc:"The bearer token of the admin API, with which everything can be changed." eg:"file:/run/secrets/admin_token"`
	ApproverToken string `rule:"admin_approver_token" is:"token" doc:"A bearer token of the admin API with which one sees, and answers what waits for a person. It needs admin_token." eg:"file:/run/secrets/approver_token"`
	ReaderToken   string `rule:"admin_reader_token" is:"token" doc:"A bearer token of the admin API with which one sees and changes nothing. It needs admin_token." eg:"file:/run/secrets/reader_token"`
	Token         string `rule:"token" is:"token" doc:"The bearer token that callers must show. If left out, they need none." eg:"${GPTOSS_TOKEN}"`
	Hosts         string `rule:"hosts" is:"NAMES" only:"serve" doc:"Host names that requests may use, beside those of this machine: that of a proxy, for example." eg:"llm.example.com gpt.example.com"`
	Drain         string `rule:"drain" is:"TIME" only:"serve" doc:"How long the server goes on accepting connections after SIGTERM, while /readyz says 503 and each answer ends its connection: so long a balancer needs to send requests elsewhere. If left out, it is 0s." eg:"5s"`
	WithParent    string `rule:"with_parent" is:"MODE" only:"serve" one:"on off" bare:"on" doc:"on: the server stops, as at SIGTERM, when the process that started it has gone. The command openclaw sets it where the gateway starts the server. off, which is the default: it stays." eg:"on"`
	LogLevel      string `rule:"log_level" is:"LEVEL" one:"debug info warn error" doc:"How much is logged."`
	ErrorLog      string `rule:"error_log" is:"DIR" doc:"The folder for files of what went wrong, one a day, the last 30 of them. If left out, it is in the log alone." eg:"/var/log/gpt-oss-executor"`
	LogFormat     string `rule:"log_format" is:"FORMAT" one:"text json" doc:"The format of the log."`
	LogOutput     string `rule:"log_output" is:"WHERE" doc:"Where the log goes: stderr, stdout, or a file, by its whole path. Lines are added to it. If left out, it is stderr." eg:"/var/log/gpt-oss-executor.log"`
}

// Prefix begins the environment variables of settings.
const Prefix = "GPTOSS_EXECUTOR_"

// Setting is a setting and the place of its value.
type Setting struct {
	Key     string // in a config file, such as log_level
	Is      string // kind of value, such as DIR; empty: a secret
	Doc     string // whole sentences
	One     string // allowed values, separated by blanks; empty: any
	Bare    string // value of the flag without one; empty: it needs one
	Example string
	Word    string // value that is no folder where others are
	Text    *string

	Token bool   // a secret for a header
	Else  string // variable of another program with the same meaning; empty: none
	Serve bool   // it has an effect only while serving
	With  string // keys of settings of which it needs one; empty: none

	field reflect.StructField
}

// Variable returns the environment variable, such as GPTOSS_EXECUTOR_LOG_LEVEL.
func (s Setting) Variable() string { return Prefix + strings.ToUpper(s.Key) }

// Flag returns the flag of serve without dashes, such as log-level; empty for a secret.
func (s Setting) Flag() string {
	if s.Is == "" {
		return ""
	}
	return strings.ReplaceAll(s.Key, "_", "-")
}

// Of returns the settings of a part by their type; zero in a program without it.
func Of[T any](s *Settings) *T {
	for _, part := range s.Parts {
		if of, ok := part.(*T); ok {
			return of
		}
	}
	return new(T)
}

// All returns the settings in the order for people.
func (s *Settings) All() (out []Setting) {
	for _, of := range append([]any{s}, s.Parts...) {
		v := reflect.ValueOf(of).Elem()
		for _, f := range rulefile.Keys(v.Type()) {
			key, _ := rulefile.KeyOf(f)
			tag := f.Tag.Get
			set := Setting{
				Key: key, Is: tag("is"), Doc: tag("doc"), One: tag("one"), Bare: tag("bare"),
				Word: tag("word"), Example: tag("eg"), Else: tag("else"), With: tag("with"),
				Serve: tag("only") == "serve",
				Text:  v.FieldByIndex(f.Index).Addr().Interface().(*string), Token: tag("is") == "token",
				field: f,
			}
			if set.Token || set.Is == "secret" {
				set.Is = ""
			}
			out = append(out, set)
		}
	}
	return out
}

// Read reads a config file. Only ${NAME} is replaced by an environment variable; a plain $ stays, and $${
// is ${.
func (s *Settings) Read(name, doc string, env func(string) (string, bool)) rulefile.Problems {
	file, all := rulefile.Single(name, doc), s.All()
	var fields []reflect.StructField
	for _, f := range all {
		fields = append(fields, f.field)
	}
	settings := reflect.New(rulefile.StructOf(fields))
	problems := file.Decode(settings.Interface(), false)
	for i := range problems {
		key, unknown := strings.CutPrefix(problems[i].Msg, "unknown key ")
		if why := built.Without(built.Setting, key); unknown && why != "" {
			problems[i].Msg, problems[i].Hint = why, ""
		}
	}
	if len(problems) > 0 {
		return problems
	}
	for i, f := range all {
		if !file.Says(f.Key) {
			continue
		}
		text := settings.Elem().Field(i).String()
		value, missing := expand(text, env)
		if form := unexpanded(text); form != "" {
			problems = append(problems, file.At(f.Key).Problem(rulefile.CodeRef,
				form+" stands for no environment variable",
				"write ${NAME}, with letters, digits and _ alone; $${ is a plain ${, and any value may stand in a file or a variable of its own"))
		} else if missing != "" {
			problems = append(problems, file.At(f.Key).Problem(rulefile.CodeRef,
				fmt.Sprintf("the environment variable %s is not set", missing),
				"set it, or write the value here"))
		} else if err := f.Set(value); err != nil {
			problems = append(problems, file.At(f.Key).Problem(rulefile.CodeRef, f.Key+" "+err.Error(), ""))
		}
	}
	return problems
}

var variable = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME}. missing is the first name that is not set.
func expand(s string, env func(string) (string, bool)) (out, missing string) {
	out = variable.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		name := m[2 : len(m)-1]
		value, ok := env(name)
		if !ok && missing == "" {
			missing = name
		}
		return value
	})
	return out, missing
}

// unexpanded returns what looks like a variable and is none, such as ${NAME:-else} or $NAME; "": nothing.
func unexpanded(s string) string {
	if bareVariable.MatchString(s) {
		return s
	}
	return anyForm.FindString(variable.ReplaceAllString(strings.ReplaceAll(s, "$${", ""), ""))
}

var (
	bareVariable = regexp.MustCompile(`^\s*\$[A-Z_][A-Z0-9_]*\s*$`)
	anyForm      = regexp.MustCompile(`\$\{[^}]*\}?`)
)

// Override reads the environment, pairs of NAME=value. An unknown variable with our prefix is an error,
// since it is misspelt.
func (s *Settings) Override(environ []string) error {
	all := s.All()
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		key, ours := strings.CutPrefix(name, Prefix)
		if !ours {
			continue
		}
		key = strings.ToLower(key)
		i := slices.IndexFunc(all, func(f Setting) bool { return f.Key == key })
		if i < 0 {
			if why := built.Without(built.Setting, key); why != "" {
				return fmt.Errorf("environment: %s", why)
			}
			return fmt.Errorf("environment: unknown setting %s; %s", name,
				rulefile.DidYouMean(name, variables(all)))
		}
		if err := all[i].Set(value); err != nil {
			return fmt.Errorf("environment: %s %w", name, err)
		}
	}
	return nil
}

// Unused returns the error of a setting that differs from the default and lacks the setting that it needs.
func (s *Settings) Unused(byDefault *Settings) error {
	all, usual := s.All(), byDefault.All()
	for i, f := range all {
		set := func(o Setting) bool { return slices.Contains(strings.Fields(f.With), o.Key) && *o.Text != "" }
		if f.With != "" && *f.Text != *usual[i].Text && !slices.ContainsFunc(all, set) {
			return fmt.Errorf("%s has an effect only with %s", f.Key,
				strings.ReplaceAll(f.With, " ", " or "))
		}
	}
	return nil
}

func variables(all []Setting) (out []string) {
	for _, s := range all {
		out = append(out, s.Variable())
	}
	return out
}

// secretFile begins a secret that is in a file.
const secretFile = "file:"

// Set sets a value from the config file, the environment or a flag. An empty value is an error: it is most
// often a variable that is not set, and must not open what the setting closes. ~ is expanded, since service
// units and config files do not.
func (s Setting) Set(value string) (err error) {
	if strings.TrimSpace(value) == "" {
		return errors.New("is empty; give it a value, or leave it out")
	}
	if s.Is == "NAMES" && strings.HasPrefix(value, "[") && strings.Contains(value, ",") { // and no [::1]
		return errors.New("is a list in quotes; write names with blanks between them: " + s.Example)
	}
	if s.One != "" {
		if value = strings.ToLower(value); !slices.Contains(strings.Fields(s.One), value) {
			return fmt.Errorf("%q is not one of %s", value, strings.ReplaceAll(s.One, " ", ", "))
		}
	}
	*s.Text, err = s.path(value, Home)
	return err
}

// Whole returns a value that means the same wherever the program starts, with absolute paths.
func (s Setting) Whole(value string) (string, error) {
	return s.path(value, func(path string) (string, error) {
		path, err := Home(path)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		return path, err
	})
}

// path applies by to the path in a value, if there is one.
func (s Setting) path(value string, by func(string) (string, error)) (string, error) {
	file, named := strings.CutPrefix(strings.TrimSpace(value), secretFile)
	switch {
	case s.Is == "" && named:
		path, err := by(file)
		return secretFile + path, err
	case s.Is == "DIR" && value != s.Word, s.Is == "FILE":
		return by(value)
	}
	return value, nil
}

// Home replaces ~ by the home folder.
func Home(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%s: %w; write the folder out", path, err)
	}
	return home + rest, nil
}

// Secret returns a secret without surrounding white space, read from a file for file:PATH.
func Secret(setting, value string) (string, error) {
	value = strings.TrimSpace(value)
	path, ok := strings.CutPrefix(value, secretFile)
	if !ok {
		return value, nil
	}
	path, err := Home(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", setting, err)
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", setting, err)
	}
	if value = strings.TrimSpace(string(doc)); value == "" {
		return "", fmt.Errorf("read %s: %s is empty", setting, path)
	}
	return value, nil
}

// ReadSecrets reads the secrets in files. A token that no header can hold is an error, since it would admit
// no caller or fail at the first request.
func (s *Settings) ReadSecrets() (err error) {
	for _, f := range s.All() {
		if f.Is != "" {
			continue
		}
		if *f.Text, err = Secret(f.Key, *f.Text); err != nil {
			return err
		}
		if f.Token && strings.ContainsFunc(*f.Text, unicode.IsControl) {
			return fmt.Errorf("%s has a line break or another control character in it, which no header can hold; a token is one line", f.Key)
		}
	}
	return nil
}
