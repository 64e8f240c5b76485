package guard

import (
	"context"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// In returns the world of a request whose gateway names the agent's folders, the workspace first; nil:
// no valid ones. Tools work in cwd; empty: in the workspace.
func (w World) In(named []string, cwd string) World {
	if !path.IsAbs(cwd) {
		cwd = ""
	}
	w.named, w.cwd = named, cwd
	return w
}

// WithFolder returns the world of a request whose gateway names this folder, or none if it is empty. A
// folder that cannot be a workspace is ignored.
func (w World) WithFolder(set *ruleset.Set, folder string) World {
	if folder == "" || w.unfit(set, folder) != "" {
		return w.In(nil, folder)
	}
	return w.In([]string{folder}, folder)
}

// worldOf returns the world of one request. It takes the workspace that the gateway names, unless the
// operator has set one or the folder cannot be one, and logs each of these once. Relative paths start
// where the gateway says in any case, since that is where they lead.
func (g *Guard) worldOf(set *ruleset.Set, who policy.Subject, named ruleset.Named) World {
	w := g.World
	has := w.Roots(set).Workspace()
	tell := func(level slog.Level, event, text, folder string, more ...any) {
		if g.workspaceLogs.allow(event+" "+folder+" "+who.Agent, g.Now()) {
			g.Log.Log(context.Background(), level, text,
				append([]any{"event", event, "workspace", folder, "agent", who.Agent}, more...)...)
		}
	}
	if set := w.machine.Workspace; set != "" && set != has {
		tell(slog.LevelWarn, "workspace_differs",
			"the workspace of the locked folder counts, and not the one that the start sets", has, "set", set)
	}
	fixed := set.Fixed() || w.machine.Workspace != ""
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

// unfit returns why a folder that the gateway names cannot be a workspace, or "".
func (w World) unfit(set *ruleset.Set, folder string) string {
	look := func() string { // as if it were one, with the home folder of its user
		g := paths.Guard{Roots: w.In([]string{folder}, "").Roots(set), Links: workspace.Links{}}
		return g.Unfit(folder)
	}
	if w.folders == nil {
		return look()
	}
	return w.folders.lookup("unfit "+set.Version+" "+folder, look)
}

// cacheTTL is how long a resolved folder is kept. paths.yaml has thirty folders, and resolving all of
// them for each call took as long as judging it. A process that replaces such a folder by a link gains
// nothing: what the call names is always resolved, and then lies outside of the cached folder.
const cacheTTL = time.Second

// folderCache keeps what folders resolve to, and whether they can be workspaces. It is safe for
// concurrent use.
type folderCache struct {
	mu    sync.Mutex
	until time.Time
	found map[string]string
}

// resolve returns a folder without links.
func (f *folderCache) resolve(folder string) string {
	return f.lookup(folder, func() string { return paths.Behind(workspace.Links{}, folder) })
}

// lookup returns what look has found recently, or calls it.
func (f *folderCache) lookup(key string, look func() string) string {
	if found, known := f.cached(key); known {
		return found
	}
	found := look() // without the lock: a slow disk holds up no other call
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found[key] = found
	return found
}

// cached returns what was found recently and drops older entries.
func (f *folderCache) cached(key string) (found string, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.found == nil || now.After(f.until) {
		f.found, f.until = map[string]string{}, now.Add(cacheTTL)
	}
	found, known = f.found[key]
	return found, known
}
