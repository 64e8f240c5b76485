package gitremote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// User runs programs as the user does, in the root folder.
type User struct{ env []string }

// NewUser is the user with this environment: NAME=value. The folders are those that confined commands may
// change; no program is taken from them.
func NewUser(environ, folders []string) User {
	return User{append(Unprepared(environ, folders), "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never")}
}

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

// command is a program of the user.
func (u User) command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := Lookup(u.env, name)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env = "/", slices.Clone(u.env)
	return c, nil
}

// ask is what git of the user answers; nothing where it fails.
func (u User) ask(ctx context.Context, in string, args ...string) string {
	c, err := u.command(ctx, "git", args...)
	if err != nil {
		return ""
	}
	c.Stdin = strings.NewReader(in)
	out, err := c.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Address is where the settings of the user lead for the address of a remote.
func (u User) Address(ctx context.Context, text string) (url.URL, bool) {
	at, ok := guard.ParseRemote(text)
	if !ok || at.Scheme == "file" {
		return at, ok
	}
	if real := u.ask(ctx, "", "ls-remote", "--get-url", text); real != "" {
		return guard.ParseRemote(real)
	}
	return at, ok
}

// SSH is ssh of the user that runs a service of a remote. The protocol is what git asks for; empty: the
// first.
func (u User) SSH(ctx context.Context, r guard.Remote, service, protocol string) (*exec.Cmd, error) {
	program := u.ask(ctx, "", "config", "--get", "core.sshCommand")
	if program == "" {
		program = "ssh"
	}
	args := []string{"-c", program + ` "$@"`, "ssh", "-T", "-o", "BatchMode=yes", "-o",
		"ClearAllForwardings=yes"}
	var set []string
	if slices.Contains([]string{"version=1", "version=2"}, protocol) {
		args, set = append(args, "-o", "SendEnv=GIT_PROTOCOL"), []string{"GIT_PROTOCOL=" + protocol}
	}
	if port := r.URL.Port(); port != "" {
		args = append(args, "-p", port)
	}
	at := r.URL.Hostname()
	if name := r.URL.User.Username(); name != "" {
		at = name + "@" + at
	}
	// the path has no quotes: see Parse
	c, err := u.command(ctx, "sh", append(args, at, service+" '"+r.URL.Path+"'")...)
	if err == nil {
		c.Env = append(c.Env, set...)
	}
	return c, err
}

// Credential is what the user shows to a remote over HTTPS: what stands in its address, or what their
// credential helpers say.
func (u User) Credential(ctx context.Context, r guard.Remote) (name, password string, err error) {
	if password, ok := r.URL.User.Password(); ok {
		return r.URL.User.Username(), password, nil
	}
	in := "protocol=https\nhost=" + r.URL.Host + "\npath=" + strings.TrimPrefix(r.URL.Path, "/") + "\n"
	if name := r.URL.User.Username(); name != "" {
		in += "username=" + name + "\n"
	}
	for line := range strings.Lines(u.ask(ctx, in+"\n", "credential", "fill")) {
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "="); key {
		case "username":
			name = value
		case "password":
			password = value
		}
	}
	if password == "" {
		return "", "", errors.New("git of the user has no credentials for it")
	}
	return name, password, nil
}
