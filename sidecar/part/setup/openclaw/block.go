// Package openclaw knows which settings of an OpenClaw gateway suit the sidecar: it writes them, merges
// them into the text of an openclaw.json, and finds problems in one. It is pure: it opens no file.
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

// Provider is the name of the sidecar in a gateway's config.
const Provider = "gpt-oss-executor"

// Values for a gateway, and its minimal needs.
const (
	Timeout       = 900   // seconds without an event until the gateway gives up
	LeastWindow   = 32768 // tokens; with fewer, OpenClaw's prompt leaves too little for a conversation
	DefaultTokens = 8192  // of a reply
	readyMillis   = 30000 // for the start of the sidecar
)

// Sidecar describes a sidecar.
type Sidecar struct {
	URL     string   // base URL for the gateway, such as http://127.0.0.1:8001/v1
	Key     string   // bearer token, or ${VARIABLE}; empty: none
	API     string   // chat or responses; empty: unchanged, or responses
	Models  []string // ids to offer, the default first; a block needs one
	Serves  []string // all ids that it answers to
	Window  int      // context window in tokens
	Guessed bool     // Window is a default: another value in a config stays
	Tokens  int      // maximal tokens of a reply; 0: unchanged, or DefaultTokens
	Service *Service // how the gateway starts it; nil: it does not

	ExecMode bool // OpenClaw accepts only a mode instead of security and ask
}

// withParent is the flag of serve that ends it with the gateway.
const withParent = "--with-parent"

// Service describes a sidecar as a child process of the gateway.
type Service struct {
	// absolute path; empty: only renew an existing service
	Command  string
	Listen   string
	Upstream string
	Guessed  bool // Upstream is a default: another value in a config stays
	Env      jsonc.Pairs
	Idle     int // milliseconds without a request until the gateway stops it; 0: never
}

// window returns the context window if it is known, else 0.
func (s *Sidecar) window() int {
	if s.Guessed {
		return 0
	}
	return s.Window
}

// model returns OpenClaw's name of the default model.
func (s *Sidecar) model() string {
	return Provider + "/" + strings.Join(s.Models[:min(1, len(s.Models))], "")
}

func (s *Sidecar) api() string { return apiNames[cmp.Or(s.API, "responses")] }

// apiNames maps the APIs of the sidecar to OpenClaw's names.
var apiNames = map[string]string{"chat": "openai-completions", "responses": "openai-responses"}

// KnownAPI reports whether the sidecar serves an API.
func KnownAPI(api string) bool { return api == "" || apiNames[api] != "" }

// compat returns the settings of OpenClaw for an API, which were found by trying.
func compat(api string) jsonc.Pairs {
	c := jsonc.Make("supportsReasoningEffort", true, "supportedReasoningEfforts",
		jsonc.Strings("low", "medium", "high"))
	if api == apiNames["responses"] {
		return append(c, jsonc.Make("sendSessionIdHeader", true)...)
	}
	return append(c, jsonc.Make("maxTokensField", "max_tokens", "requiresToolResultName", true,
		"sendSessionAffinityHeaders", true)...)
}

// Block returns the settings that OpenClaw needs for a sidecar. Its schema is strict, and its defaults lose
// reasoning.
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

// exec makes OpenClaw ask about exactly the calls that say so. No mode does that: full asks about none, and
// ask, which comes next, about all that is not on OpenClaw's own list.
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

// healthURL returns the URL of the liveness probe. It needs no token, and ignores the model server, whose
// problems the sidecar reports to the user itself.
func healthURL(base string) string { return strings.TrimSuffix(base, "/v1") + "/healthz" }

// Doubts returns warnings about the numbers of tokens.
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

// Start sets how a gateway starts a program as the sidecar. Settings of the environment are copied, but
// secrets are only referred to: the gateway must know them.
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
			value = strings.ReplaceAll(value, "${", "$${") // otherwise OpenClaw looks up a variable
		}
		s.Env = append(s.Env, jsonc.Make(name, value)...)
	}
}

// prefix is the prefix of the sidecar's variables.
const prefix = "GPTOSS_EXECUTOR_"

// IsSetting reports whether openclaw passes an environment variable on to the sidecar.
func IsSetting(name string) bool {
	return strings.HasPrefix(name, prefix) || name == "OPENCLAW_WORKSPACE"
}

// Base returns a base URL for a config. It adds /v1, below which the sidecar answers.
func Base(text string) (string, error) {
	const like = "write it as http://127.0.0.1:8001/v1"
	u, err := url.Parse(text)
	switch {
	case err != nil: // the error would show all of it
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

// Listen returns the address on which a sidecar with this base URL must listen; empty: it is on another
// machine.
func Listen(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || !slices.Contains(loopback, u.Hostname()) || u.Port() == "" {
		return ""
	}
	return u.Host
}

// loopback are the names of this machine.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// sameServer reports whether two URLs lead to the same server.
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
