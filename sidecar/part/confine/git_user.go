package confine

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// gitUser runs programs as the user, in the root folder.
type gitUser struct{ env []string }

// newGitUser returns the user with this environment. No program is taken from the folders, which
// confined commands may change.
func newGitUser(environ, folders []string) gitUser {
	return gitUser{append(walls.CleanEnviron(environ, folders), "GIT_TERMINAL_PROMPT=0",
		"SSH_ASKPASS_REQUIRE=never")}
}

func (u gitUser) command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	path, err := walls.Lookup(u.env, name)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env = "/", slices.Clone(u.env)
	return c, nil
}

// git returns what the user's git prints; "" if it fails.
func (u gitUser) git(ctx context.Context, in string, args ...string) string {
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

// Address returns where the user's settings lead for the address of a remote.
func (u gitUser) Address(ctx context.Context, text string) (url.URL, bool) {
	at, ok := guard.ParseRemote(text)
	if !ok || at.Scheme == "file" {
		return at, ok
	}
	if real := u.git(ctx, "", "ls-remote", "--get-url", text); real != "" {
		return guard.ParseRemote(real)
	}
	return at, ok
}

// SSH returns the user's ssh, ready to run a service of a remote. The protocol is what git asks for;
// empty: the first version.
func (u gitUser) SSH(ctx context.Context, r guard.Remote, service, protocol string) (*exec.Cmd, error) {
	program := u.git(ctx, "", "config", "--get", "core.sshCommand")
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

// Credential returns the user's credential for a remote over HTTPS: that of its address, or of the
// credential helpers.
func (u gitUser) Credential(ctx context.Context, r guard.Remote) (name, password string, err error) {
	if password, ok := r.URL.User.Password(); ok {
		return r.URL.User.Username(), password, nil
	}
	in := "protocol=https\nhost=" + r.URL.Host + "\npath=" + strings.TrimPrefix(r.URL.Path, "/") + "\n"
	if name := r.URL.User.Username(); name != "" {
		in += "username=" + name + "\n"
	}
	for line := range strings.Lines(u.git(ctx, in+"\n", "credential", "fill")) {
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
