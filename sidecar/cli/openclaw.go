package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// object is a JSON object.
type object = map[string]any

func openclawCommand(env Env) *cobra.Command {
	var url, dir, key string
	var window, tokens int
	var runs bool
	c := &cobra.Command{
		Use:   "openclaw",
		Short: "Print the settings for openclaw.json, ready to paste",
		Long: `Print the settings for openclaw.json, ready to merge into it. The numbers are those of your
model server: what it was started with, not what the model could do.

Run it on the gateway's machine, as its user. If the gateway reaches the sidecar at 127.0.0.1
and the kernel can confine commands, that is noted: serve confines them from its next start
on, if it runs here as this user. confine --probe says what this machine enforces.`,
		Example: `  gpt-oss-executor openclaw --context-window 65536 --max-tokens 8192
  gpt-oss-executor openclaw --url http://gpu.lan:8001/v1 --key "$TOKEN"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if window < 1 || tokens < 1 {
				return misused(c, errors.New("--context-window and --max-tokens take a number of tokens, 1 or more"))
			}
			for _, doubt := range doubts(window, tokens) {
				fmt.Fprintln(env.Err, "warning:", doubt)
			}
			set, err := loadRules(dir, "", env)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Err, "confine:", service.NoteGateway(url))
			return env.paper(true).whole(openclawSettings(set, url, key, window, tokens, runs), nil)
		},
	}
	f := c.Flags()
	f.StringVar(&url, "url", "http://127.0.0.1:8001/v1", "base `URL` under which OpenClaw reaches the sidecar")
	f.StringVar(&key, "key", "", "bearer `TOKEN`, if the sidecar has one (GPTOSS_EXECUTOR_TOKEN)")
	f.IntVar(&window, "context-window", 131072, "context window of the model server, in `TOKENS`")
	f.IntVar(&tokens, "max-tokens", 8192, "the most `TOKENS` that a reply may have")
	f.BoolVar(&runs, "executor", false, "name the models that run tools of their own, too: for a serve with --workspace-tools or --gateway")
	rulesFlag(c, env, &dir)
	return c
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

// openclawSettings are what OpenClaw needs to know of us. The values are those that were
// found to work: OpenClaw's schema is strict, and its defaults lose reasoning. runs says that
// tools run here: without any, a model of executor mode is a second name for another one.
func openclawSettings(set *ruleset.Set, url, key string, window, tokens int, runs bool) object {
	var models []object
	for i, m := range set.Models {
		if i > 0 && m.Mode == ruleset.Executor && !runs {
			continue // but the default stays: the block below names it
		}
		models = append(models, object{
			"id": m.ID.Value, "name": m.ID.Value, "reasoning": true, "input": []string{"text"},
			"cost":          object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": window, "maxTokens": tokens,
			"compat": object{
				"supportsReasoningEffort": true, "supportedReasoningEfforts": []string{"low", "medium", "high"},
				"maxTokensField": "max_tokens", "requiresToolResultName": true, "sendSessionAffinityHeaders": true,
			},
		})
	}
	provider := object{"baseUrl": strings.TrimSuffix(url, "/"), "api": "openai-completions", "timeoutSeconds": 900, "models": models}
	if key != "" {
		provider["apiKey"] = key
	}
	return object{
		"models": object{"mode": "merge", "providers": object{"gpt-oss-executor": provider}},
		"agents": object{"defaults": object{"model": object{"primary": "gpt-oss-executor/" + set.Models[0].ID.Value}}},
		"tools": object{
			"toolSearch": object{"mode": "directory"},
			"exec":       object{"security": "full", "ask": "on-miss"}, // else it does not ask about calls that say so
		},
	}
}
