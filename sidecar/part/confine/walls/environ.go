package walls

import (
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// SecretNames are patterns of variables that hold secrets, or lead to programs that hold them.
func SecretNames() []string { return lists.List("secrets") }

// Environ returns an environment without secrets, by the patterns of names and by values that look
// like one.
func Environ(env, patterns []string) (out []string) {
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		matches := func(pattern string) bool {
			ok, _ := path.Match(pattern, upper)
			return ok
		}
		if slices.ContainsFunc(patterns, matches) || isSecret(value) {
			continue
		}
		out = append(out, v)
	}
	return out
}

func isSecret(value string) (found bool) {
	secrets.Forms(value, func(_, secret string) string {
		found = true
		return secret
	})
	return found
}

// WithProxy sets the variables by which programs find a proxy.
func WithProxy(env []string, proxy string) (out []string) {
	set := map[string]string{}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		set[name], set[strings.ToUpper(name)] = proxy, proxy
	}
	const local = "localhost,127.0.0.1,::1"
	set["no_proxy"], set["NO_PROXY"] = local, local
	set["NODE_USE_ENV_PROXY"] = "1" // node 24 and later
	set["npm_config_proxy"], set["npm_config_https_proxy"], set["npm_config_noproxy"] = proxy, proxy, local
	set["PIP_PROXY"] = proxy
	set["CARGO_HTTP_PROXY"] = proxy
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); set[name] == "" {
			out = append(out, v)
		}
	}
	added := len(out)
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out[added:])
	return out
}

// CleanEnviron returns an environment in which no name leads to a program in the folders, and no
// variable leads git to a repository.
func CleanEnviron(environ, folders []string) (out []string) {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH":
			dirs := slices.DeleteFunc(strings.Split(value, ":"), func(dir string) bool {
				real, err := filepath.EvalSymlinks(dir)
				return err != nil || !filepath.IsAbs(dir) ||
					slices.ContainsFunc(folders,
						func(f string) bool { return contains(f, real) || contains(f, dir) })
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

// contains reports whether a path is a folder or lies in it.
func contains(folder, path string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}

// Lookup returns the path of a program by PATH of an environment.
func Lookup(environ []string, name string) (string, error) {
	for _, v := range environ {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			for dir := range strings.SplitSeq(list, ":") {
				if path, err := exec.LookPath(dir + "/" + name); err == nil && dir != "" {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("%s is not in PATH", name)
}
