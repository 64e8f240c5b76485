package ruleset

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Settings is the configuration of the process: what is decided once, at start, and what
// a config file may say. Everything about replies stands in the rule files instead.
type Settings struct {
	Listen        string `rule:"listen" doc:"The address to serve on: HOST:PORT." eg:"127.0.0.1:8001"`
	Upstream      string `rule:"upstream" doc:"The base URL of the model server, with or without /v1." eg:"http://127.0.0.1:8000/v1"`
	UpstreamKey   string `rule:"upstream_key" doc:"The bearer token that the model server wants." eg:"${VLLM_API_KEY}"`
	Server        string `rule:"server" doc:"A dialect of servers.yaml. If left out, the server is asked." eg:"vllm"`
	Rules         string `rule:"rules" doc:"The folder of rule files. It is watched for edits. If left out, the built-in rules are in force." eg:"/etc/gpt-oss-executor/rules"`
	Policy        string `rule:"policy" doc:"The locked folder of the security team. Its rules only tighten those of the operator." eg:"/etc/gpt-oss-executor/policy"`
	Workspace     string `rule:"workspace" doc:"The folder where agents work. If left out, paths.yaml and the gateway say it. A workspace in the locked folder outranks it." eg:"/home/sam/code/shop"`
	State         string `rule:"state" doc:"The folder that remembers the rule sets that were in force. If the rules do not load at start, the last good set serves." eg:"/var/lib/gpt-oss-executor"`
	Decisions     string `rule:"decisions" doc:"The folder of the log of what the policy decided, or off. If left out, it is the folder decisions in state, if state is set." eg:"/var/lib/gpt-oss-executor/decisions"`
	DecisionsMode string `rule:"decisions_mode" one:"written synced required" doc:"How safe a record is before its call leaves. written: the operating system has it. synced: the disk has it. required: the disk has it, and without a record no call leaves."`
	Admin         string `rule:"admin" doc:"The address of the admin API: HOST:PORT. If left out, there is no admin API." eg:"127.0.0.1:8002"`
	AdminToken    string `rule:"admin_token" doc:"The bearer token of the admin API." eg:"file:/run/secrets/admin_token"`
	Token         string `rule:"token" doc:"The bearer token that callers must show. If left out, they need none." eg:"${GPTOSS_TOKEN}"`
	Hosts         string `rule:"hosts" doc:"Host names that requests may use, beside those of this machine: that of a proxy, for example." eg:"llm.example.com gpt.example.com"`
	LogLevel      string `rule:"log_level" one:"debug info warn error" doc:"How much is logged."`
	LogFormat     string `rule:"log_format" one:"text json" doc:"The format of the log, on standard error."`
}

// SettingPrefix begins the environment variables that override settings.
const SettingPrefix = "GPTOSS_EXECUTOR_"

// setting pairs a key with where its value goes.
type setting struct {
	key string
	to  *string
}

func (s *Settings) fields() (out []setting) {
	v := reflect.ValueOf(s).Elem()
	for _, f := range rulefile.Keys(v.Type()) {
		key, _ := rulefile.KeyOf(f)
		out = append(out, setting{key, v.FieldByIndex(f.Index).Addr().Interface().(*string)})
	}
	return out
}

// guards are the settings without which a listener is open to everybody.
var guards = map[string]bool{"token": true, "admin_token": true}

const emptyToken = "give it a value, or leave it out: without it everybody may ask"

// Read takes over what a config file says. Only ${NAME} in its texts is replaced
// by an environment variable; a plain $ stays what it is, and $${ is ${.
func (s *Settings) Read(name, doc string, env func(string) (string, bool)) rulefile.Problems {
	file := rulefile.Single(name, doc)
	var said Settings
	problems := file.Decode(&said, false)
	given := said.fields()
	for i, f := range s.fields() {
		if *given[i].to == "" {
			continue
		}
		value, missing := expand(*given[i].to, env)
		if missing != "" {
			problems = append(problems, file.At(f.key).Problem(rulefile.CodeRef,
				fmt.Sprintf("the environment variable %s is not set", missing), "set it, or write the value here"))
		}
		if value == "" && missing == "" && guards[f.key] {
			problems = append(problems, file.At(f.key).Problem(rulefile.CodeRef, f.key+" is empty", emptyToken))
		}
		*f.to = value
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

// Override takes over the environment: pairs of NAME=value. A variable with our
// prefix that is no setting is an error, because it is a misspelt one.
func (s *Settings) Override(environ []string) error {
	fields := s.fields()
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		key, ours := strings.CutPrefix(name, SettingPrefix)
		if !ours {
			continue
		}
		key = strings.ToLower(key)
		i := slices.IndexFunc(fields, func(f setting) bool { return f.key == key })
		if i < 0 {
			keys := collect(fields, func(f setting) string { return SettingPrefix + strings.ToUpper(f.key) })
			return fmt.Errorf("environment: unknown setting %s; %s", name, rulefile.DidYouMean(name, keys))
		}
		if value == "" && guards[key] {
			return fmt.Errorf("environment: %s is set and empty; %s", name, emptyToken)
		}
		*fields[i].to = value
	}
	return nil
}
