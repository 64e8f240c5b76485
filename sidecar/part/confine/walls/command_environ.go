package walls

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Unprepared is an environment in which no name leads to a program in one of these folders, and no variable
// leads git to a repository.
func Unprepared(environ, folders []string) (out []string) {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH":
			dirs := slices.DeleteFunc(strings.Split(value, ":"), func(dir string) bool {
				real, err := filepath.EvalSymlinks(dir)
				return err != nil || !filepath.IsAbs(dir) ||
					slices.ContainsFunc(folders,
						func(f string) bool { return holds(f, real) || holds(f, dir) })
			})
			out = append(out, "PATH="+strings.Join(dirs, ":"))
		case strings.HasPrefix(name, "GIT_"), slices.Contains([]string{"BASH_ENV", "ENV", "PWD", "OLDPWD",
			"SSH_ASKPASS"}, name):
		default:
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether a path is a folder or lies in it.
func holds(folder, path string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}

// Lookup is where a program stands that an environment leads to.
func Lookup(environ []string, name string) (string, error) {
	for _, v := range environ {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			for dir := range strings.SplitSeq(list, ":") {
				if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && dir != "" {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("%s is not in PATH", name)
}
