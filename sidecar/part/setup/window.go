package setup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// window asks the server of a model for its context window in tokens; 0: unknown. An error means that it
// cannot be asked.
func window(ctx context.Context, s config.Settings, set *ruleset.Set, m ruleset.Model,
	u ruleset.Upstream) (int, error) {
	c, err := upstream.ConfigOf(s, u)
	if err != nil {
		return 0, err
	}
	c.Server = cmp.Or(m.Server.Value, c.Server)
	c.Connect, c.IdleConnections, c.Log = set.Limits.Connect, 1, slog.New(slog.DiscardHandler)
	up, err := upstream.New(c)
	if err != nil {
		return 0, err
	}
	defer up.Close()
	if err := up.Ready(ctx, set.Limits.ProbeTimeout); err != nil {
		return 0, fmt.Errorf("%s: %s", up.Address(), strings.TrimPrefix(err.Error(), "upstream: "))
	}
	sent, err := up.Model(ctx, set, m, m.ID.Value)
	return up.Window(up.Server(ctx, set), sent.Name), err
}

// leastWindow returns the smallest context window of the model servers; 0: unknown, and why says why.
func leastWindow(ctx context.Context, s config.Settings, set *ruleset.Set) (least int, why string) {
	why = "the model server does not say it"
	asked := map[string]bool{}
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			if asked[u.URL] {
				continue
			}
			asked[u.URL] = true
			n, err := window(ctx, s, set, m, u)
			if err != nil {
				why = err.Error()
			}
			if n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
	}
	return least, why
}
