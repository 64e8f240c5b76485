package guard

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// Remote is a remote of a git repository.
type Remote struct {
	Text string  // as in the git settings
	URL  url.URL // https, ssh or file; the path of ssh may be relative
	Push bool    // pushing is allowed
}

// The services of a repository.
const (
	FetchService = "git-upload-pack"
	PushService  = "git-receive-pack"
)

// Offers reports whether a service of the remote may be used.
func (r *Remote) Offers(service string) bool {
	return service == FetchService || service == PushService && r.Push
}

// ParseRemote reads the address of a repository. It accepts only forms that are known in every part.
func ParseRemote(text string) (u url.URL, ok bool) {
	if filepath.IsAbs(text) {
		text = "file://" + text
	}
	if m := shortRemote.FindStringSubmatch(text); m != nil && !strings.Contains(text, "://") {
		u = url.URL{Scheme: "ssh", Host: m[2], Path: m[3]}
		if m[1] != "" {
			u.User = url.User(m[1])
		}
	} else if parsed, err := url.Parse(text); err == nil && parsed.RawQuery == "" && parsed.Fragment == "" {
		u = url.URL{Scheme: parsed.Scheme, User: parsed.User, Host: parsed.Host, Path: parsed.EscapedPath()}
		if u.Scheme == "git+ssh" {
			u.Scheme = "ssh"
		}
		if u.Scheme == "ssh" && strings.HasPrefix(u.Path, "/~") { // as git gives it to ssh
			u.Path = u.Path[1:]
		}
	}
	_, secret := u.User.Password()
	switch u.Scheme {
	case "file":
		u.Path, ok = filepath.Clean(u.Path), u.Host == "" && u.User == nil
	case "ssh", "https":
		ok = remoteHost.MatchString(u.Host) &&
			(u.User == nil || remoteUser.MatchString(u.User.Username())) &&
			(u.Scheme == "https" || !secret)
	}
	return u, ok && remotePath.MatchString(u.Path)
}

var (
	shortRemote = regexp.MustCompile(`^(?:([^/:@]+)@)?([^/:@]+):([^:].*)$`) // sam@host:shop.git
	remoteHost  = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$`)
	remoteUser  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	remotePath  = regexp.MustCompile(`^[A-Za-z0-9/_~.][A-Za-z0-9/_~.@+,=-]*$`)
)
