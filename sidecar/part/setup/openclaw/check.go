package openclaw

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// Status is the severity of a finding.
type Status string

const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, but not well
	Fail Status = "fail" // something does not work
)

// Finding is the result of one check of a config.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Path   string `json:"path,omitempty"` // in the config: models.providers.x.api
	Line   int    `json:"line,omitempty"` // of it, or of its parent
	Found  string `json:"found"`          // the value and its effect
	Fix    string `json:"fix,omitempty"`
}

// rewrite is the advice for a config that OpenClaw may be able to read, and this program cannot.
const rewrite = "mend it by hand, or let OpenClaw write the file as JSON: openclaw config set PATH VALUE, which drops its comments"

// Check finds the problems of a config with a sidecar, in the order of the config's parts. An unreadable
// config has one finding. Parts from other files ($include) are not checked; a finding says so.
func Check(config []byte, s Sidecar) []Finding {
	root, err := jsonc.Parse(config)
	c := &checker{text: config, root: root, s: s}
	var wrong *jsonc.SyntaxError
	switch {
	case errors.As(err, &wrong):
		c.list = []Finding{{Name: "config", Status: Fail, Line: wrong.Line,
			Found: "the config cannot be read here: " + err.Error(), Fix: rewrite}}
	case root.Kind != jsonc.Object:
		c.list = []Finding{{Name: "config", Status: Fail, Line: 1,
			Found: "the config is " + root.Kind.String(), Fix: "it must be an object"}}
	default:
		c.includes(root, nil)
		c.providers()
		c.agents()
	}
	return c.list
}

// Worst returns the worst status.
func Worst(list []Finding) Status {
	worst := OK
	for _, f := range list {
		if f.Status == Fail || worst == OK {
			worst = f.Status
		}
		if worst == Fail {
			break
		}
	}
	return worst
}

// checker collects findings.
type checker struct {
	text []byte
	root *jsonc.Value
	s    Sidecar
	list []Finding
	ours []string // names of the providers that lead to the sidecar
}

// configPath is a path in a config.
type configPath []string

func (a configPath) to(steps ...string) configPath { return append(a[:len(a):len(a)], steps...) }

// add adds a finding. The fix is dropped if nothing is wrong.
func (c *checker) add(name string, status Status, place configPath, found, fix string) {
	if status == OK {
		fix = ""
	}
	line := 1
	for i := range place {
		if v := c.root.At(place[:i+1]...); v != nil {
			line, _ = jsonc.Position(c.text, v.Start)
		}
	}
	c.list = append(c.list, Finding{name, status, strings.Join(place, "."), line, found, fix})
}

// shown abbreviates a value; "not set" if it is missing.
func (c *checker) shown(v *jsonc.Value) string {
	switch {
	case v == nil:
		return "not set"
	case v.Kind == jsonc.Object || v.Kind == jsonc.Array:
		return v.Kind.String()
	}
	return strings.ToValidUTF8(string(c.text[v.Start:v.End]), "?")
}

// includes reports the parts that come from other files.
func (c *checker) includes(v *jsonc.Value, place configPath) {
	if v.Get(include) != nil {
		c.add("include", Warn, place.to(include),
			"a part of the config comes from another file, and is not looked at here",
			"look with openclaw config validate, and compare that file with what gpt-oss-executor openclaw prints")
	}
	for i := range v.Members {
		c.includes(&v.Members[i].Value, place.to(v.Members[i].Key))
	}
}

// providers checks the providers that lead to the sidecar.
func (c *checker) providers() {
	all := configPath{"models", "providers"}
	list := c.root.At(all...)
	for i := range list.AllMembers() {
		m := list.Members[i]
		base := m.Value.Get("baseUrl")
		named := m.Key == Provider
		leads := base != nil && base.Kind == jsonc.String && sameServer(base.Text, c.s.URL)
		if list.Get(m.Key) == &list.Members[i].Value && (named || leads) {
			c.ours = append(c.ours, m.Key)
			c.provider(all.to(m.Key), &m.Value, leads)
		}
	}
	if len(c.ours) == 0 {
		c.add("provider", Fail, all,
			"no provider leads to "+c.s.URL+": the gateway does not know the sidecar",
			"gpt-oss-executor openclaw --write FILE, or merge what gpt-oss-executor openclaw prints")
	}
}

// Leads reports whether a provider of a config leads to a sidecar.
func Leads(config []byte, sidecar string) bool {
	root, err := jsonc.Parse(config)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(root.At("models", "providers").AllMembers(), func(p jsonc.Member) bool {
		base := p.Value.Get("baseUrl")
		return base != nil && base.Kind == jsonc.String && sameServer(base.Text, sidecar)
	})
}

func (c *checker) provider(place configPath, p *jsonc.Value, leads bool) {
	base := p.Get("baseUrl")
	switch {
	case base == nil || base.Kind != jsonc.String:
		c.add("provider", Fail, place.to("baseUrl"), "baseUrl is "+c.shown(base), fmt.Sprintf(`"baseUrl": %q`,
			c.s.URL))
	case strings.Contains(base.Text, "${"):
		c.add("provider", Warn, place.to("baseUrl"),
			"baseUrl comes from a variable; it is not known here where that leads", "see that it is "+c.s.URL)
	case !leads:
		c.add("provider", Fail, place.to("baseUrl"),
			"baseUrl is "+c.shown(base)+", and the sidecar is at "+c.s.URL,
			fmt.Sprintf(`"baseUrl": %q, or say with --url where it is`, c.s.URL))
	case !strings.HasSuffix(strings.TrimSuffix(base.Text, "/"), "/v1"):
		c.add("provider", Fail, place.to("baseUrl"),
			"baseUrl is "+c.shown(base)+", without the /v1 below which the sidecar answers",
			fmt.Sprintf(`"baseUrl": %q`, c.s.URL))
	default:
		c.add("provider", OK, place.to("baseUrl"), "the gateway asks the sidecar at "+c.shown(base), "")
	}
	api := p.Get("api")
	known := api.Is(jsonc.String, apiNames["chat"]) || api.Is(jsonc.String, apiNames["responses"])
	c.when(known, Fail, "api", place.to("api"), "api is "+c.shown(api),
		"; the sidecar serves openai-completions and openai-responses", `"api": "openai-responses"`)
	if c.s.Key != "" {
		c.when(p.Get("apiKey") != nil, Fail, "api_key", place.to("apiKey"),
			"apiKey is "+map[bool]string{true: "set", false: "not set"}[p.Get("apiKey") != nil],
			", and the sidecar wants a token", `"apiKey": the value of GPTOSS_EXECUTOR_TOKEN`)
	}
	c.timeout(place.to("timeoutSeconds"), p.Get("timeoutSeconds"))
	c.service(place.to("localService"), p.Get("localService"))
	c.models(place.to("models"), p.Get("models"), api)
}

// when adds a finding that is fine, or else one with more words.
func (c *checker) when(fine bool, status Status, name string, place configPath, found, hurts, fix string) {
	if fine {
		status = OK
	} else {
		found += hurts
	}
	c.add(name, status, place, found, fix)
}

// leastTimeout is how many seconds a long prompt may take on a small machine.
const leastTimeout = 300

func (c *checker) timeout(place configPath, v *jsonc.Value) {
	n, _ := v.Float()
	found := "timeoutSeconds is " + c.shown(v)
	c.when(n >= leastTimeout, Warn, "timeout", place, found,
		": OpenClaw gives up a model that is silent for so long (120 s if it is not set), and asks again",
		`"timeoutSeconds": `+strconv.Itoa(Timeout))
}

// service checks how the gateway starts the sidecar, if it does.
func (c *checker) service(place configPath, v *jsonc.Value) {
	if v == nil {
		return
	}
	command, health := v.Get("command"), v.Get("healthUrl")
	serves := v.At("args", "0").Is(jsonc.String, "serve")
	switch {
	case command == nil || command.Kind != jsonc.String || !filepath.IsAbs(command.Text) &&
		!strings.Contains(command.Text, "${"):
		c.add("local_service", Fail, place.to("command"),
			"command is "+c.shown(command)+"; OpenClaw looks it up nowhere",
			"the whole path of gpt-oss-executor: gpt-oss-executor openclaw --local-service prints it")
	case filepath.Base(command.Text) == Provider && !serves:
		c.add("local_service", Fail, place.to("args"),
			"the sidecar is started without the command serve, and ends at once",
			`"args": ["serve", …]: gpt-oss-executor openclaw --local-service prints them`)
	case health != nil && health.Kind == jsonc.String && !sameServer(health.Text, c.s.URL):
		c.add("local_service", Fail, place.to("healthUrl"),
			"healthUrl is "+c.shown(health)+", and the sidecar is at "+c.s.URL+": OpenClaw waits in vain",
			fmt.Sprintf(`"healthUrl": %q`, healthURL(strings.TrimSuffix(c.s.URL, "/"))))
	case stays(v):
		c.add("local_service", Warn, place.to("args"), "the gateway starts the sidecar without "+withParent+
			": it stays when the gateway is killed", "add "+strconv.Quote(withParent)+
			" to args, behind \"serve\"")
	default:
		c.add("local_service", OK, place, "the gateway starts the sidecar when it is asked first", "")
	}
}

// stays reports whether a sidecar survives the gateway that started it. A config file may prevent that, and
// other programs have their own ways.
func stays(service *jsonc.Value) bool {
	serves, leaves := false, service.At("env", "GPTOSS_EXECUTOR_WITH_PARENT").Is(jsonc.String, "on")
	if args := service.Get("args"); args != nil {
		for i := range args.Items {
			flag, value, _ := strings.Cut(args.Items[i].Text, "=")
			serves = serves || flag == "serve"
			leaves = leaves || flag == "--config" || flag == withParent && value != "off"
		}
	}
	return serves && !leaves
}

// harmful lists switches of compat that break the input of gpt-oss.
var harmful = []string{"strictMessageKeys", "requiresThinkingAsText", "requiresAssistantAfterToolResult"}

// models checks the models of a provider.
func (c *checker) models(place configPath, list *jsonc.Value, api *jsonc.Value) {
	if list == nil || list.Kind != jsonc.Array || len(list.Items) == 0 {
		c.add("models", Fail, place, "models is "+c.shown(list)+": the provider has none",
			"gpt-oss-executor openclaw prints them")
		return
	}
	for i := range list.Items {
		v, at := &list.Items[i], place.to(strconv.Itoa(i))
		id := v.Get("id")
		if id == nil || id.Kind != jsonc.String {
			c.add("models", Fail, at.to("id"), "id is "+c.shown(id), "an id that the sidecar knows: "+
				strings.Join(c.s.Serves, ", "))
			continue
		}
		c.when(slices.Contains(c.s.Serves, id.Text), Fail, "models", at.to("id"), "id is "+c.shown(id),
			"; the sidecar answers 404 to it", "one of "+strings.Join(c.s.Serves, ", "))
		c.window(at, v)
		c.when(v.Get("reasoning").Is(jsonc.Bool, "true"), Fail, "reasoning", at.to("reasoning"),
			"reasoning is "+c.shown(v.Get("reasoning")),
			": OpenClaw does not send the chain of thought back, and the model forgets between two calls what it was about", `"reasoning": true`)
		c.compat(at.to("compat"), v.Get("compat"), api)
	}
}

// window checks the numbers of tokens of a model.
func (c *checker) window(place configPath, model *jsonc.Value) {
	v := model.Get("contextWindow")
	n, known := v.Float()
	where, found := place.to("contextWindow"), "contextWindow is "+c.shown(v)
	want := c.s.window()
	fix := `"contextWindow": ` + strconv.Itoa(want)
	if want == 0 {
		fix = `"contextWindow": what the model server was started with`
	}
	switch {
	case !known:
		c.add("context_window", Warn, where,
			found+": OpenClaw guesses when the conversation must be made shorter", fix)
	case want > 0 && int(n) > want:
		c.add("context_window", Fail, where,
			fmt.Sprintf("%s, and the model server takes %d: OpenClaw shortens the conversation too late",
				found, want), fix)
	case n < LeastWindow:
		c.add("context_window", Fail, where, fmt.Sprintf("%s, and OpenClaw's own prompt needs %d, better %d",
			found, LeastWindow, 2*LeastWindow), "start the model server with a larger context")
	case want > 0 && int(n) < want:
		c.add("context_window", Warn, where,
			fmt.Sprintf("%s, and the model server takes %d: the rest lies idle", found, want), fix)
	default:
		c.add("context_window", OK, where, found, "")
	}
	tokens, set := model.Get("maxTokens").Float()
	if where = place.to("maxTokens"); known && (set || n > 0) {
		found = "maxTokens is " + c.shown(model.Get("maxTokens"))
		c.when(!set || tokens <= n/2, Warn, "max_tokens", where, found,
			": together with the prompt that must fit into the context window",
			fmt.Sprintf(`"maxTokens": %d at most`, int(n)/2))
	}
}

// compat checks how OpenClaw changes requests.
func (c *checker) compat(place configPath, v, api *jsonc.Value) {
	for _, key := range harmful {
		if v.Get(key).Is(jsonc.Bool, "true") {
			c.add("compat", Fail, place.to(key),
				key+" is true: it spoils calls, their results or the reasoning in what gpt-oss reads",
				strconv.Quote(key)+": false")
		}
	}
	if v.Get("supportsTools").Is(jsonc.Bool, "false") {
		c.add("compat", Fail, place.to("supportsTools"), "supportsTools is false: the model gets no tools",
			"leave supportsTools out")
	}
	if v.Get("supportsUsageInStreaming").Is(jsonc.Bool, "false") {
		c.add("compat", Warn, place.to("supportsUsageInStreaming"),
			"supportsUsageInStreaming is false: OpenClaw does not learn how full the context is",
			"leave supportsUsageInStreaming out")
	}
	session := "sendSessionIdHeader"
	if !api.Is(jsonc.String, apiNames["responses"]) {
		session = "sendSessionAffinityHeaders"
		field := v.Get("maxTokensField")
		c.when(field.Is(jsonc.String, "max_tokens"), Warn, "max_tokens_field", place.to("maxTokensField"),
			"maxTokensField is "+c.shown(field),
			": the limit is sent under a name that older model servers do not know",
			`"maxTokensField": "max_tokens"`)
		c.when(v.Get("supportsReasoningEffort").Is(jsonc.Bool, "true"), Warn, "reasoning_effort",
			place.to("supportsReasoningEffort"),
			"supportsReasoningEffort is "+c.shown(v.Get("supportsReasoningEffort")),
			": the thinking level of OpenClaw does not reach the model",
			`"supportsReasoningEffort": true, "supportedReasoningEfforts": ["low", "medium", "high"]`)
	}
	c.when(v.Get(session).Is(jsonc.Bool, "true"), Warn, "session", place.to(session),
		session+" is "+c.shown(v.Get(session)),
		": the sidecar cannot tell sessions apart, so that limits and experiments count them as one",
		strconv.Quote(session)+": true")
}
