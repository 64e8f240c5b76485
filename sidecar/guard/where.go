package guard

import (
	"context"
	"log/slog"
	"path"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// In is the world of a request whose gateway names these folders as those of its agent, the
// workspace first; nil: it names none that could be. Its tools work in cwd; empty: in the
// workspace.
func (w World) In(named []string, cwd string) World {
	if !path.IsAbs(cwd) {
		cwd = ""
	}
	w.named, w.cwd = named, cwd
	return w
}

// WithFolder is the world of a request whose gateway names this folder; empty: it names none. One
// that cannot be a workspace is not taken over.
func (w World) WithFolder(set *ruleset.Set, folder string) World {
	if folder == "" || w.unfit(set, folder) != "" {
		return w.In(nil, folder)
	}
	return w.In([]string{folder}, folder)
}

// where is the world of one request. It takes over the workspace that the gateway names, unless the
// operator has set one, or the folder cannot be one. It logs once each folder that it takes over, and each
// that it does not. Relative paths start where the gateway says in any case, since that is where they lead.
func (g *Guard) where(set *ruleset.Set, who policy.Subject, named ruleset.Named) World {
	w := g.World
	has := w.Roots(set).Workspace()
	tell := func(level slog.Level, event, text, folder string, more ...any) {
		if g.workspaceLog.allow(event+" "+folder+" "+who.Agent, g.Now()) {
			g.Log.Log(context.Background(), level, text,
				append([]any{"event", event, "workspace", folder, "agent", who.Agent}, more...)...)
		}
	}
	if set := w.here.Workspace; set != "" && set != has {
		tell(slog.LevelWarn, "workspace_differs",
			"the workspace of the locked folder counts, and not the one that the start sets", has, "set", set)
	}
	fixed := set.Fixed() || w.here.Workspace != ""
	if named.Unclear && !fixed {
		tell(slog.LevelWarn, "workspace_unclear",
			"the gateway says in two ways where the agent works, so neither is believed; set --workspace",
			has)
	}
	if named.Folders == nil {
		return w
	}
	cwd := named.Folders[0]
	if fixed {
		if named.Folders[0] != has {
			tell(slog.LevelWarn, "workspace_differs",
				"the gateway says that the agent works elsewhere; what is set here counts", has, "gateway",
				named.Folders[0])
		}
		return w.In(nil, cwd)
	}
	for i, folder := range named.Folders {
		if why := w.unfit(set, folder); why != "" {
			tell(slog.LevelWarn, "workspace_refused", "the gateway says that the agent works in "+folder+
				", which is not taken over: "+why+
				"; if it is meant, set --workspace", has, "gateway", folder)
			named.Folders = named.Folders[:i]
			break
		}
	}
	if len(named.Folders) == 0 {
		return w.In(nil, cwd)
	}
	if named.Folders[0] != has {
		tell(slog.LevelInfo, "workspace_learnt", "the agent works where the gateway says", named.Folders[0])
	}
	return w.In(named.Folders, cwd)
}

// unfit says why a folder that the gateway names cannot be a workspace; empty: it can.
func (w World) unfit(set *ruleset.Set, folder string) string {
	look := func() string { // as if it were one, with the home folder of its user
		g := paths.Guard{Roots: w.In([]string{folder}, "").Roots(set), Links: workspace.Links{}}
		return g.Unfit(folder)
	}
	if w.folders == nil {
		return look()
	}
	return w.folders.known("unfit "+set.Version+" "+folder, look)
}
