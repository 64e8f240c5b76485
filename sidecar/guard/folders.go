package guard

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// keep is how long it is known what a folder leads to. There are thirty folders in
// paths.yaml, and looking at all of them for each call took as long as judging it.
//
// Who swaps such a folder for a link gains nothing by it. What the call names is always
// looked at; it then leads out of the folder that is known, and is outside.
const keep = time.Second

// folders knows what folders lead to, and whether they can be workspaces. Safe for
// concurrent use.
type folders struct {
	mu    sync.Mutex
	until time.Time
	found map[string]string
}

// behind is a folder behind its links.
func (f *folders) behind(folder string) string {
	return f.known(folder, func() string { return paths.Behind(workspace.Links{}, folder) })
}

// known is what a look has found, if that was lately.
func (f *folders) known(key string, look func() string) string {
	if found, known := f.kept(key); known {
		return found
	}
	found := look() // without the lock: a slow disk holds up no other call
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found[key] = found
	return found
}

// kept is what was found lately. What is older is forgotten.
func (f *folders) kept(key string) (found string, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.found == nil || now.After(f.until) {
		f.found, f.until = map[string]string{}, now.Add(keep)
	}
	found, known = f.found[key]
	return found, known
}
