// Package openclaw knows which settings of an OpenClaw gateway make it work well with us: it
// writes them, merges them into the text of an openclaw.json, and says what in one will hurt. It
// is pure: texts and values in, texts and findings out. It opens no file.
package openclaw

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// Provider is the name under which a gateway knows us.
const Provider = "gpt-oss-executor"

// What a gateway is told, and what it needs at least.
const (
	Timeout       = 900   // seconds without an event after which the gateway gives a model up
	LeastWindow   = 32768 // tokens: below it OpenClaw's own prompt leaves too little for a conversation
	DefaultTokens = 8192  // of a reply
	readyMillis   = 30000 // that a start of the sidecar may take
)

// Sidecar is what there is to know of a sidecar.
type Sidecar struct {
	URL     string   // base URL for the gateway, such as http://127.0.0.1:8001/v1
	Key     string   // bearer token, or ${VARIABLE}; empty: none is needed
	API     string   // that the gateway is to speak: chat or responses; empty: as it is, or responses
	Models  []string // ids to be named, the default first; a block needs one
	Serves  []string // all ids that it answers to
	Window  int      // context window in tokens
	Guessed bool     // the window is a default: another one in a config is as good
	Tokens  int      // the most tokens of a reply; 0: as it is, or DefaultTokens
	Service *Service // how the gateway starts it; nil: it does not

	ExecMode bool // OpenClaw takes no security and ask for exec, but only a mode
}

// withParent is the flag of serve that has it stop when the gateway is killed.
const withParent = "--with-parent"

// Service is a sidecar as a child of the gateway.
type Service struct {
	// absolute path; empty: it is renewed where a config starts it already, and else there is none
	Command  string
	Listen   string
	Upstream string
	Guessed  bool // the upstream is a default: another one in a config is as good
	Env      jsonc.Pairs
	Idle     int // milliseconds without a request after which the gateway stops it; 0: never
}

// window is the context window that is known; 0: none is.
func (s *Sidecar) window() int {
	if s.Guessed {
		return 0
	}
	return s.Window
}

// model is OpenClaw's name of the default model.
func (s *Sidecar) model() string {
	return Provider + "/" + strings.Join(s.Models[:min(1, len(s.Models))], "")
}

func (s *Sidecar) api() string { return apiNames[cmp.Or(s.API, "responses")] }

// apiNames are OpenClaw's names of the APIs that it can speak to us.
var apiNames = map[string]string{"chat": "openai-completions", "responses": "openai-responses"}

// KnownAPI reports whether we serve an API.
func KnownAPI(api string) bool { return api == "" || apiNames[api] != "" }

// compat is what OpenClaw has to do over an API. The values are those that were found to work.
func compat(api string) jsonc.Pairs {
	c := jsonc.Make("supportsReasoningEffort", true, "supportedReasoningEfforts",
		jsonc.Strings("low", "medium", "high"))
	if api == apiNames["responses"] {
		return append(c, jsonc.Make("sendSessionIdHeader", true)...)
	}
	return append(c, jsonc.Make("maxTokensField", "max_tokens", "requiresToolResultName", true,
		"sendSessionAffinityHeaders", true)...)
}

// Block are the settings that OpenClaw needs for a sidecar. Its schema is strict, and its defaults
// lose reasoning.
func Block(s Sidecar) jsonc.Pairs {
	var models jsonc.List
	for _, id := range s.Models {
		models = append(models, jsonc.Make("id", id, "name", id, "reasoning", true, "input",
			jsonc.Strings("text"),
			"cost", jsonc.Make("input", 0, "output", 0, "cacheRead", 0, "cacheWrite", 0),
			"contextWindow", s.Window, "maxTokens", cmp.Or(s.Tokens, DefaultTokens), "compat",
			compat(s.api())))
	}
	base := strings.TrimSuffix(s.URL, "/")
	entry := jsonc.Make("baseUrl", base, "api", s.api(), "timeoutSeconds", Timeout)
	if s.Key != "" {
		entry = append(entry, jsonc.Make("apiKey", s.Key)...)
	}
	if s.Service != nil && s.Service.Command != "" {
		entry = append(entry, jsonc.Make("localService", s.Service.block(base))...)
	}
	entry = append(entry, jsonc.Make("models", models)...)
	return jsonc.Make(
		"models", jsonc.Make("providers", jsonc.Make(Provider, entry)),
		"agents", jsonc.Make("defaults", jsonc.Make("model", jsonc.Make("primary", s.model()))),
		"tools", jsonc.Make(
			"toolSearch", jsonc.Make("mode", "directory"),
			"exec", s.exec(),
			"loopDetection", jsonc.Make("enabled", true)),
	)
}

// exec has OpenClaw ask about the calls that say so, and about no others. No mode says that: with
// full it asks about none, and ask comes next, as it asks about all that is not on its own list.
func (s *Sidecar) exec() jsonc.Pairs {
	if s.ExecMode {
		return jsonc.Make("mode", "ask")
	}
	return jsonc.Make("security", "full", "ask", "on-miss")
}

func (s *Service) block(base string) jsonc.Pairs {
	p := jsonc.Make("command", s.Command, "args", jsonc.Strings("serve", "--listen", s.Listen, "--upstream",
		s.Upstream, withParent))
	if len(s.Env) > 0 {
		p = append(p, jsonc.Make("env", s.Env)...)
	}
	p = append(p, jsonc.Make("healthUrl", healthURL(base), "readyTimeoutMs", readyMillis)...)
	if s.Idle > 0 {
		p = append(p, jsonc.Make("idleStopMs", s.Idle)...)
	}
	return p
}

// healthURL says whether the sidecar lives. What is wrong with the model server it tells the user
// itself, and it wants no token there.
func healthURL(base string) string { return strings.TrimSuffix(base, "/v1") + "/healthz" }

// Doubts are what speaks against the numbers of tokens.
func (s *Sidecar) Doubts() (out []string) {
	tokens := cmp.Or(s.Tokens, DefaultTokens)
	if s.Window < LeastWindow {
		out = append(out, fmt.Sprintf("a context window of %d tokens is too small for OpenClaw: it needs %d, better %d", s.Window, LeastWindow, 2*LeastWindow))
	}
	if tokens > s.Window/2 {
		out = append(out, fmt.Sprintf("a reply may have %d tokens, of %d that the context window holds together with the prompt; take half of it at most", tokens, s.Window))
	}
	return out
}

// Start is how a gateway starts a program as the sidecar. Settings in the environment are handed on,
// but for secrets, which stay there: the gateway has to know them.
func (s *Service) Start(program string, idle int, environ []string, secret func(name string) bool) {
	s.Command, s.Idle = program, idle
	slices.Sort(environ)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case value == "" || name == prefix+"LISTEN" || name == prefix+"UPSTREAM":
			continue
		case secret(name) && !strings.HasPrefix(value, "file:"):
			value = "${" + name + "}"
		default:
			value = strings.ReplaceAll(value, "${", "$${") // else OpenClaw looks for a variable
		}
		s.Env = append(s.Env, jsonc.Make(name, value)...)
	}
}

// prefix begins the variables that are settings of the sidecar.
const prefix = "GPTOSS_EXECUTOR_"

// Handed reports whether an environment variable of openclaw is one for the sidecar.
func Handed(name string) bool { return strings.HasPrefix(name, prefix) || name == "OPENCLAW_WORKSPACE" }

// Base is a base URL as a config has it. The sidecar answers below /v1, which is added.
func Base(text string) (string, error) {
	const like = "write it as http://127.0.0.1:8001/v1"
	u, err := url.Parse(text)
	switch {
	case err != nil: // the error would show the whole of it
		return "", errors.New("this is no URL; " + like)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%s begins with neither http:// nor https://; %s", u.Redacted(), like)
	case u.Hostname() == "":
		return "", fmt.Errorf("%s names no host; %s", u.Redacted(), like)
	case u.User != nil:
		return "", fmt.Errorf("%s holds a user; OpenClaw sends what --key says", u.Redacted())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("%s has something behind its path; %s", u.Redacted(), like)
	}
	if u = u.JoinPath("/"); !strings.HasSuffix(u.Path, "/v1/") {
		u = u.JoinPath("v1")
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// Listen is where a sidecar with this base URL has to serve; empty: on another machine.
func Listen(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || !slices.Contains(loopback, u.Hostname()) || u.Port() == "" {
		return ""
	}
	return u.Host
}

// loopback are the names of this machine.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// sameServer reports whether two URLs lead to one server.
func sameServer(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	if errX != nil || errY != nil {
		return false
	}
	local := slices.Contains(loopback, x.Hostname()) && slices.Contains(loopback, y.Hostname())
	return x.Scheme == y.Scheme && x.Port() == y.Port() &&
		(local || x.Hostname() == y.Hostname())
}
