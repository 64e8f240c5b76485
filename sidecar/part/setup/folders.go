package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// stat returns the info of a file, as os.Stat does.
type stat func(path string) (fs.FileInfo, error)

// folders checks the folders that the server writes to.
func folders(s config.Settings, look stat) (out []Check) {
	if s.State == "" {
		out = append(out, Check{Name: "state", Status: warn,
			Found: "no state folder is set: after a start with broken rules the last good ones are not there, runs end with a crash, and nothing is recorded",
			Fix:   "serve --state ~/.local/state/gpt-oss-executor, or GPTOSS_EXECUTOR_STATE"})
	} else {
		out = append(out, checkFolder("state", s.State, look))
	}
	for _, f := range []struct{ name, dir string }{{"decisions", service.DecisionsIn(s)},
		{"error_log", s.ErrorLog}} {
		below, err := filepath.Rel(s.State, f.dir)
		// the server creates folders in state
		made := s.State != "" && err == nil && !strings.HasPrefix(below, "..")
		if _, err := look(f.dir); f.dir != "" && !(made && errors.Is(err, fs.ErrNotExist)) {
			out = append(out, checkFolder(f.name, f.dir, look))
		}
	}
	return out
}

// checkFolder checks that a folder can be used, and only by this user.
func checkFolder(name, dir string, look stat) Check {
	info, err := look(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Check{Name: name, Status: warn, Found: dir + " is not there yet",
			Fix: "mkdir -p -m 700 " + dir, mend: mend{kind: makeFolder, path: dir, mode: 0o700}}
	case err != nil:
		return Check{Name: name, Status: fail, Found: err.Error(),
			Fix: "name another folder, or let this user reach it"}
	case !info.IsDir():
		return Check{Name: name, Status: fail, Found: dir + " is no folder",
			Fix: "name a folder, with --" + strings.ReplaceAll(name, "_", "-")}
	case info.Mode().Perm()&0o300 != 0o300 || !writable(dir):
		return Check{Name: name, Status: fail, Found: "this user may not write to " + dir,
			Fix: "chmod u+rwx " + dir + ", or sudo chown $(id -u) " + dir}
	case atomicfile.May(info)&0o022 != 0:
		return Check{Name: name, Status: fail,
			Found: fmt.Sprintf("others may write to %s (mode %o), so it is not used", dir,
				info.Mode().Perm()), Fix: "chmod 700 " + dir, mend: mend{kind: closeFolder, path: dir,
				mode: 0o700}}
	case atomicfile.May(info) != 0:
		return Check{Name: name, Status: warn, Found: fmt.Sprintf("others may read %s (mode %o)", dir,
			info.Mode().Perm()), Fix: "chmod 700 " + dir, mend: mend{kind: closeFolder, path: dir,
			mode: 0o700}}
	}
	return Check{Name: name, Status: ok, Found: dir + " is ours alone"}
}

// workFolders describes the folders in which agents work.
type workFolders struct {
	set   string                // in the settings; empty: not set
	fixed bool                  // by settings or paths.yaml; else the gateway chooses
	may   []string              // where agents may write, the workspace first
	named []string              // in the config of the gateway
	takes func(dir string) bool // whether the policy accepts a folder of the gateway
}

const worksName = "workspace"

// checks compares the folders.
func (w workFolders) checks(look stat) (out []Check) {
	if w.set != "" {
		out = append(out, w.settings(look)...)
	}
	for _, dir := range w.named {
		switch _, err := look(dir); {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, Check{Name: worksName, Status: warn, Found: "the gateway works in " + dir +
				", which is not there", Fix: "mkdir -p " + dir + ", or openclaw setup"})
		case w.fixed && !slices.ContainsFunc(w.may, func(root string) bool { return within(root, dir) }):
			out = append(out, Check{Name: worksName, Status: fail, Found: "the gateway works in " + dir +
				", and the policy lets agents write in " + strings.Join(w.may, ", ") + " alone",
				Fix: "serve --workspace " + dir +
					", or leave it out there and in paths.yaml, so that the gateway says where its agent works"})
		case !w.fixed && !w.takes(dir):
			out = append(out, Check{Name: worksName, Status: fail, Found: "the gateway works in " + dir +
				", which the policy does not take over as a workspace: the system, a home as a whole, secrets or the sidecar itself are in it",
				Fix: "name another agents.defaults.workspace in openclaw.json, or, if it is meant, serve --workspace " + dir})
		}
	}
	switch {
	case len(out) > 0:
	case w.fixed && len(w.may) > 0:
		out = []Check{{Name: worksName, Status: ok, Found: "agents work in " + w.may[0]}}
	case len(w.named) > 0:
		out = []Check{{Name: worksName, Status: ok, Found: "agents work where the gateway says: " +
			strings.Join(w.named, ", ")}}
	default:
		out = []Check{{Name: worksName, Status: ok,
			Found: "none is set: the gateway says for each request where its agent works"}}
	}
	return out
}

// settings checks the folder in the settings.
func (w workFolders) settings(look stat) (out []Check) {
	info, err := look(w.set)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = append(out, Check{Name: worksName, Status: fail, Found: w.set + " is not there",
			Fix: "mkdir -p " + w.set + ", or name another one with --workspace", mend: mend{kind: makeFolder,
				path: w.set, mode: 0o755}})
	case err != nil:
		out = append(out, Check{Name: worksName, Status: fail, Found: err.Error(),
			Fix: "name another folder with --workspace"})
	case !info.IsDir():
		out = append(out, Check{Name: worksName, Status: fail, Found: w.set + " is no folder",
			Fix: "name a folder with --workspace"})
	}
	if len(w.may) > 0 && w.may[0] != w.set {
		out = append(out, Check{Name: worksName, Status: warn, Found: "--workspace is " + w.set +
			", and the locked paths.yaml says " + w.may[0] + ", which counts",
			Fix: "--workspace " + w.may[0]})
	}
	return out
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
