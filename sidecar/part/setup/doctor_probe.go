package setup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Found is what a server was found to do.
type Found struct {
	Upstream string `json:"upstream,omitempty"` // its name, where the model has several
	Error    string `json:"error,omitempty"`    // why it cannot be asked
	upstream.Seen
	Style string `json:"style"` // of requests with tools, of a session in the first half
}

// ProbeAll asks the servers of a model. The error says that none of them can be asked.
func ProbeAll(ctx context.Context, s config.Settings, set *ruleset.Set,
	m ruleset.Model) (all []Found, err error) {
	list := set.UpstreamsOf(m)
	well := false
	for _, u := range list {
		found, one := look(ctx, s, set, m, u)
		if err = errors.Join(err, one); one != nil {
			found.Error = one.Error()
		}
		if well = well || one == nil; len(list) > 1 {
			found.Upstream = u.Name
		}
		all = append(all, found)
	}
	if !well {
		return nil, err
	}
	return all, nil
}

func look(ctx context.Context, s config.Settings, set *ruleset.Set, m ruleset.Model,
	u ruleset.Upstream) (Found, error) {
	cfg, err := upstream.FleetConfigOf(s, u)
	if err != nil {
		return Found{}, err
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
	found := Found{Seen: seen, Style: ruleset.Native}
	if style != nil {
		found.Style = style.ID
	}
	return found, nil
}

// Field is one line for people.
type Field struct{ Name, Value string }

// Fields are all of them.
func (f *Found) Fields() (out []Field) {
	if f.Upstream != "" {
		out = append(out, Field{"upstream", f.Upstream})
	}
	if f.Error != "" {
		return append(out, Field{"error", f.Error})
	}
	out = append(out, []Field{{"server", f.Server}, {"models", strings.Join(f.Models, " ")},
		{"tried", f.Model}}...)
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
