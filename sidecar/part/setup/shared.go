package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
)

// shared checks the server that replicas share, if the settings name one.
func (p *Patient) shared(ctx context.Context) []Check {
	s := config.Of[replicas.Settings](&p.Settings)
	if s.Shared == "" {
		return nil
	}
	c := Check{Name: "shared", Status: fail}
	to, err := replicas.ConfigOf(*s, p.Settings.AdminToken)
	if err != nil {
		c.Found, c.Fix = err.Error(), "shared_wait: 50ms"
		return []Check{c}
	}
	p.say("asking the server that replicas share")
	took, err := replicas.Probe(ctx, to)
	switch {
	case err != nil:
		c.Found, c.Fix = "the server that replicas share: "+err.Error(), mendShared(err)
	case to.Secret == "":
		c.Status, c.Found = warn,
			"there is neither an admin_token nor a shared_password: whoever reaches the server can read thoughts there, and make up approvals"
		c.Fix = "give all replicas the same admin_token: admin_token: file:/etc/gpt-oss-executor/admin_token"
	default:
		c.Status, c.Found = ok, fmt.Sprintf("the server that replicas share answers in %s, and takes and gives what is sealed", took.Round(10*time.Microsecond))
		if took > cmp.Or(to.Wait, replicas.DefaultWait) {
			c.Status, c.Fix = warn, "requests do not wait so long for it: put it nearer, or set shared_wait to more"
		}
	}
	return []Check{c}
}

// mendShared returns the fix for an error.
func mendShared(err error) string {
	message := err.Error()
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(message, w) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, replicas.ErrForeign):
		return "give all replicas the same admin_token and version, or this group a shared_prefix of its own"
	case has("NOAUTH", "WRONGPASS", "AUTH"):
		return "set shared_user and shared_password as the server has them"
	case has("NOPERM"):
		return "let that user do what docs/replicas.md says in ACL SETUSER, with the same shared_prefix"
	case has("OOM"):
		return "give the server more maxmemory, and set its maxmemory-policy to volatile-lru"
	case has("READONLY"):
		return "name the server that takes writes, not its copy"
	case has("certificate", "tls"):
		return "set shared_ca to the certificates that sign the server's, and name it as its certificate does"
	case strings.HasPrefix(message, "shared"), strings.HasPrefix(message, "read shared_ca"):
		return "shared: redis://HOST:6379, rediss://HOST:6379 for TLS, or unix:///PATH"
	}
	return "start the server, or say where it is: shared: redis://HOST:6379"
}
