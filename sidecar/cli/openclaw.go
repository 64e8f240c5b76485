package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/manual"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// object is a JSON object.
type object = map[string]any

func openclawCommand(env Env) *cobra.Command {
	var dir, server string
	var p provider
	c := &cobra.Command{
		Use:   "openclaw",
		Short: "Print the settings for openclaw.json, ready to paste",
		Long: `Print the settings for openclaw.json, ready to merge into it. The context window is the one
that your model server was started with, not what the model could do. The server is asked for
it, unless --context-window gives it.

Run it on the gateway's machine, as its user. If the gateway reaches the sidecar at 127.0.0.1
and the kernel can confine commands, that is noted: serve confines them from its next start
on, if it runs here as this user. confine --probe says what this machine enforces.`,
		Example: `  gpt-oss-executor openclaw --context-window 65536 --max-tokens 8192
  gpt-oss-executor openclaw --url http://gpu.lan:8001/v1 --key "$TOKEN"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if p.window < 1 || p.tokens < 1 {
				return manual.Misused(c, errors.New("--context-window and --max-tokens take a number of tokens, 1 or more"))
			}
			if _, known := apis[p.api]; !known {
				return manual.Misused(c, fmt.Errorf("--api takes chat or responses, not %q", p.api))
			}
			set, err := loadRules(dir, "", env)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("context-window") {
				if p.window, err = probedWindow(c.Context(), set, server, p.window, env); err != nil {
					return err
				}
			}
			for _, doubt := range doubts(p.window, p.tokens) {
				fmt.Fprintln(env.Err, "warning:", doubt)
			}
			fmt.Fprintln(env.Err, "confine:", service.NoteGateway(p.url))
			return env.paper(true).whole(p.settings(set), nil)
		},
	}
	f := c.Flags()
	f.StringVar(&p.url, "url", "http://127.0.0.1:8001/v1", "base `URL` under which OpenClaw reaches the sidecar")
	f.StringVar(&p.key, "key", "", "bearer `TOKEN`, if the sidecar has one (GPTOSS_EXECUTOR_TOKEN)")
	f.StringVar(&p.api, "api", "chat", "the `API` that OpenClaw speaks to the sidecar: chat (chat completions), or responses")
	f.StringVar(&server, "upstream", "", "base `URL` of the model server that is asked for its context window; if left out, it is that of serve")
	f.IntVar(&p.window, "context-window", 131072, "context window of the model server, in `TOKENS`, in place of the one that it tells")
	f.IntVar(&p.tokens, "max-tokens", 8192, "the most `TOKENS` that a reply may have")
	f.BoolVar(&p.runs, "executor", false, "name the models that run tools of their own, too: for a serve with --workspace-tools or --gateway")
	rulesFlag(c, env, &dir)
	return c
}

// probedWindow is the context window that the model server tells: the smallest, if the models
// have several servers. Where none tells it, it is the usual one.
func probedWindow(ctx context.Context, set *ruleset.Set, server string, usual int, env Env) (int, error) {
	s := defaultSettings()
	if err := errors.Join(s.Override(env.Environ), service.ReadSecrets(&s)); err != nil {
		return 0, err
	}
	s.Upstream = cmp.Or(server, s.Upstream)
	least, why, asked := 0, "the model server does not say it", map[string]bool{}
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			if asked[u.URL] {
				continue
			}
			asked[u.URL] = true
			n, err := service.Window(ctx, s, set, m, u)
			if err != nil {
				why = err.Error()
			}
			if n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	if least == 0 {
		fmt.Fprintf(env.Err, "context window: %d is assumed: %s; give it with --context-window\n", usual, why)
		return usual, nil
	}
	fmt.Fprintf(env.Err, "context window: %d, as the model server says\n", least)
	return least, nil
}

// leastWindow is the context window, in tokens, below which OpenClaw's own prompt leaves too
// little for a conversation.
const leastWindow = 32768

// doubts are what speaks against numbers of tokens.
func doubts(window, tokens int) (out []string) {
	if window < leastWindow {
		out = append(out, fmt.Sprintf("a context window of %d tokens is too small for OpenClaw: it needs %d, better %d", window, leastWindow, 2*leastWindow))
	}
	if tokens > window/2 {
		out = append(out, fmt.Sprintf("a reply may have %d tokens, of %d that the context window holds together with the prompt; take half of it at most", tokens, window))
	}
	return out
}

// provider is what OpenClaw is told of us.
type provider struct {
	url, key, api  string
	window, tokens int
	runs           bool // tools run here: without any, a model of executor mode is a second name for another one
}

// apis are those that OpenClaw can speak to us: its names for them, and what it has to do over each.
var apis = map[string]struct {
	name   string
	compat object
}{
	"chat":      {"openai-completions", object{"maxTokensField": "max_tokens", "requiresToolResultName": true, "sendSessionAffinityHeaders": true}},
	"responses": {"openai-responses", object{"sendSessionIdHeader": true}},
}

// settings are what OpenClaw needs to know of us. The values are those that were found to work:
// OpenClaw's schema is strict, and its defaults lose reasoning.
func (p *provider) settings(set *ruleset.Set) object {
	compat := object{"supportsReasoningEffort": true, "supportedReasoningEfforts": []string{"low", "medium", "high"}}
	maps.Copy(compat, apis[p.api].compat)
	var models []object
	for i, m := range set.Models {
		if i > 0 && m.Mode == ruleset.Executor && !p.runs {
			continue // but the default stays: the block below names it
		}
		models = append(models, object{
			"id": m.ID.Value, "name": m.ID.Value, "reasoning": true, "input": []string{"text"},
			"cost":          object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": p.window, "maxTokens": p.tokens, "compat": compat,
		})
	}
	entry := object{"baseUrl": strings.TrimSuffix(p.url, "/"), "api": apis[p.api].name, "timeoutSeconds": 900, "models": models}
	if p.key != "" {
		entry["apiKey"] = p.key
	}
	return object{
		"models": object{"mode": "merge", "providers": object{"gpt-oss-executor": entry}},
		"agents": object{"defaults": object{"model": object{"primary": "gpt-oss-executor/" + set.Models[0].ID.Value}}},
		"tools": object{
			"toolSearch": object{"mode": "directory"},
			"exec":       object{"security": "full", "ask": "on-miss"}, // else it does not ask about calls that say so
		},
	}
}
