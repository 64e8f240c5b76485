package setup

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// What is wrong with the server that replicas share is found, with what mends it.
func TestShared(t *testing.T) {
	server := servers.StartValkey(t, "--requirepass", "sesame", "--user", "bob", "on", ">opensesame", "~other:*",
		"+@all")
	full := servers.StartValkey(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	free, away := servers.StartValkey(t), servers.StartValkey(t)
	away.Kill()
	to, err := replicas.ConfigOf(replicas.Settings{Shared: "redis://" + free.Address}, "another token")
	ruletest.Must(t, err)
	to.Replica, to.Now, to.Metrics, to.Log = "other", time.Now, telemetry.New(), slog.New(slog.DiscardHandler)
	other, err := replicas.Open(to)
	ruletest.Must(t, err)
	if done, err := other.Board().Swap([]approvals.Swap{{ID: "x", Entry: &approvals.Entry{ID: "x"}}},
		""); !done || err != nil {
		t.Fatal(err)
	}
	ruletest.Must(t, other.Close())
	for _, row := range []struct {
		name, address, user, password, token, ca, prefix string
		wait                                             string
		status                                           openclaw.Status
		found, fix                                       string
	}{
		{name: "none"},
		{name: "good", address: server.Address, password: "sesame", token: "t0ken", status: ok, found: "takes and gives what is sealed"},
		{name: "slow", address: slow(t, server.Address), password: "sesame", token: "t0ken", status: warn, found: "answers in", fix: "shared_wait to more"},
		{name: "slow, and waited for", address: slow(t, server.Address), password: "sesame", token: "t0ken", wait: "900ms", status: ok, found: "answers in"},
		{name: "without a secret", address: free.Address, prefix: "alone", status: warn, found: "make up approvals", fix: "admin_token"},
		{name: "without the password", address: server.Address, token: "t0ken", status: fail, found: "NOAUTH", fix: "shared_password"},
		{name: "with a wrong one", address: server.Address, password: "simsim", status: fail, found: "WRONGPASS", fix: "shared_password"},
		{name: "a user who may not", address: server.Address, user: "bob", password: "opensesame", status: fail, found: "NOPERM", fix: "ACL SETUSER"},
		{name: "away", address: away.Address, token: "t0ken", status: fail, found: "refused", fix: "start the server"},
		{name: "full", address: full.Address, token: "t0ken", status: fail, found: "OOM", fix: "maxmemory"},
		{name: "of another token", address: free.Address, token: "t0ken", status: fail, found: "another admin_token", fix: "shared_prefix"},
		{name: "a file that is not there", address: free.Address, ca: "/nowhere.pem", status: fail, found: "shared_ca is of use", fix: "rediss://"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := patient(t, nil)
			s := &replicas.Settings{SharedUser: row.user, SharedPassword: row.password, SharedCA: row.ca,
				SharedPrefix: row.prefix, SharedWait: row.wait}
			p.Settings.Parts, p.Settings.AdminToken = []any{s}, row.token
			if row.address != "" {
				s.Shared = "redis://" + row.address
			}
			list := p.shared(context.Background())
			if row.address == "" {
				if len(list) > 0 {
					t.Errorf("%+v", list)
				}
				return
			}
			c := find(t, list, "shared")
			if c.Status != row.status || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.fix) || (c.Fix == "") != (row.status == ok) {
				t.Errorf("%+v", c)
			}
			if row.password != "" && strings.Contains(c.Found+c.Fix, row.password) {
				t.Errorf("it tells the password: %+v", c)
			}
		})
	}
}

// slow is the way to a server that takes longer than a request waits by default.
func slow(t *testing.T, address string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = l.Close() })
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() { _, _ = io.Copy(to, from); _ = to.Close() })
			all.Go(func() {
				defer from.Close()
				for piece := make([]byte, 64<<10); ; {
					n, err := to.Read(piece)
					if err != nil {
						return
					}
					time.Sleep(replicas.DefaultWait + 20*time.Millisecond) // a slow line
					_, _ = from.Write(piece[:n])
				}
			})
		}
	})
	return l.Addr().String()
}
