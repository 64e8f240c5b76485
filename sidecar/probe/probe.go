// Package probe says what a model server can do, and how a model of the rules is told of its
// tools there. It serves no request.
package probe

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Found is what a server was found to do.
type Found struct {
	upstream.Seen
	Style string `json:"style"` // of requests with tools, of a session in the first half
}

// Look asks the server of a model.
func Look(ctx context.Context, s config.Settings, set *ruleset.Set, m ruleset.Model) (Found, error) {
	cfg := upstream.Config{BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server}
	if m.Upstream.Value != "" { // which never gets the key of the settings
		cfg = upstream.Config{BaseURL: m.Upstream.Value}
	}
	up, err := upstream.New(cfg)
	if err != nil {
		return Found{}, err
	}
	defer up.Close()
	seen, err := up.Look(ctx, set, m)
	if err != nil {
		return Found{}, fmt.Errorf("probe %s: %w", up.Address(), err)
	}
	style, err := set.Style(m, ruleset.Asked{Model: m.ID.Value, Server: seen.Server, Native: seen.Tools})
	if err != nil {
		return Found{}, err
	}
	if style != nil && style.Schema && !seen.Schema {
		style = style.Otherwise
	}
	found := Found{seen, ruleset.Native}
	if style != nil {
		found.Style = style.ID
	}
	return found, nil
}

// Field is one line for people.
type Field struct{ Name, Value string }

// Fields are all of them.
func (f *Found) Fields() []Field {
	out := []Field{{"server", f.Server}, {"models", strings.Join(f.Models, " ")}, {"tried", f.Model}}
	if f.Window > 0 {
		out = append(out, Field{"window", strconv.Itoa(f.Window) + " tokens"})
	}
	calls, follows := "it cannot call them", "it does not follow one"
	if f.Tools {
		calls = "it takes them"
	}
	if f.Schema {
		follows = "it follows one"
	}
	out = append(out, Field{"tools", calls}, Field{"schema", follows})
	for _, d := range f.Detail {
		out = append(out, Field{"", d})
	}
	return append(out, Field{"style", f.Style})
}
