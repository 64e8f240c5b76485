package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// object is a JSON object.
type object = map[string]any

func openclawCommand(env Env) *cobra.Command {
	var url, dir, key string
	var window, tokens int
	c := &cobra.Command{
		Use:   "openclaw",
		Short: "Print the settings for openclaw.json, ready to paste",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := loadRules(dir, "", env)
			if err != nil {
				return err
			}
			return env.paper(true).whole(openclawSettings(set, url, key, window, tokens), nil)
		},
	}
	f := c.Flags()
	f.StringVar(&url, "url", "http://127.0.0.1:8001/v1", "base URL under which OpenClaw reaches the sidecar")
	f.StringVar(&key, "key", "", "bearer token, if the sidecar has one (GPTOSS_EXECUTOR_TOKEN)")
	f.IntVar(&window, "context-window", 131072, "context window of the model server, in tokens")
	f.IntVar(&tokens, "max-tokens", 8192, "the most tokens that a reply may have")
	rulesFlag(c, &dir)
	return c
}

// openclawSettings are what OpenClaw needs to know of us. The values are those that were
// found to work: OpenClaw's schema is strict, and its defaults lose reasoning.
func openclawSettings(set *ruleset.Set, url, key string, window, tokens int) object {
	var models []object
	for _, m := range set.Models {
		models = append(models, object{
			"id": m.ID, "name": m.ID, "reasoning": true, "input": []string{"text"},
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
		"agents": object{"defaults": object{"model": object{"primary": "gpt-oss-executor/" + set.Models[0].ID}}},
		"tools": object{
			"toolSearch": object{"mode": "directory"},
			"exec":       object{"security": "full", "ask": "on-miss"}, // else it does not ask about calls that say so
		},
	}
}
