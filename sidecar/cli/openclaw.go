package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// provider is what OpenClaw needs to know of us. The values are those that were
// found to work: OpenClaw's schema is strict, and its defaults lose reasoning.
type provider struct {
	BaseURL        string          `json:"baseUrl"`
	APIKey         string          `json:"apiKey,omitempty"`
	API            string          `json:"api"`
	TimeoutSeconds int             `json:"timeoutSeconds"`
	Models         []providerModel `json:"models"`
}

type providerModel struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	Reasoning     bool           `json:"reasoning"`
	Input         []string       `json:"input"`
	Cost          map[string]int `json:"cost"`
	ContextWindow int            `json:"contextWindow"`
	MaxTokens     int            `json:"maxTokens"`
	Compat        map[string]any `json:"compat"`
}

func openclawCommand(env Env) *cobra.Command {
	var url, dir, key string
	var window, tokens int
	c := &cobra.Command{
		Use:   "openclaw",
		Short: "Print the settings for openclaw.json, ready to paste",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := loadUnder("", dir, env)
			if err != nil {
				return err
			}
			p := provider{BaseURL: strings.TrimSuffix(url, "/"), APIKey: key, API: "openai-completions", TimeoutSeconds: 900}
			for _, m := range set.Models {
				p.Models = append(p.Models, providerModel{
					ID: m.ID.Value, Name: m.ID.Value, Reasoning: true, Input: []string{"text"},
					Cost:          map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
					ContextWindow: window, MaxTokens: tokens,
					Compat: map[string]any{
						"supportsReasoningEffort": true, "supportedReasoningEfforts": []string{"low", "medium", "high"},
						"maxTokensField": "max_tokens", "requiresToolResultName": true, "sendSessionAffinityHeaders": true,
					},
				})
			}
			doc := map[string]any{
				"models": map[string]any{"mode": "merge", "providers": map[string]any{"gpt-oss-executor": p}},
				"agents": map[string]any{"defaults": map[string]any{"model": map[string]any{"primary": "gpt-oss-executor/" + set.Models[0].ID.Value}}},
				"tools": map[string]any{
					"toolSearch": map[string]any{"mode": "directory"},
					"exec":       map[string]any{"security": "full", "ask": "on-miss"}, // else it does not ask about calls that say so
				},
			}
			return env.paper(true).whole(doc, nil)
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
