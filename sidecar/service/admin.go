package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// adminTokens returns the tokens of the admin API.
func adminTokens(s config.Settings) web.Tokens {
	return web.Tokens{Admin: s.AdminToken, Approver: s.ApproverToken, Reader: s.ReaderToken}
}

// serveAdmin serves the admin API and its pages, if an address is set, until the server stops.
func (r *running) serveAdmin() error {
	s := r.Settings
	var ctx context.Context
	ctx, r.stopAdmin = context.WithCancel(r.work)
	r.ends = append(r.ends, func() error { r.stopAdmin(); return nil })
	if s.Admin == "" {
		return nil
	}
	l, err := r.listener(Admin, &r.Settings.Admin, "admin")
	if err != nil {
		return err
	}
	r.adminListener = l
	api := &admin.API{
		Rules: r.Rules, World: r.Guard.World, Guard: r.Judge, Approvals: r.Guard.Approvals,
		Decisions: r.Decisions, Drafts: admin.NewDraftLimiter(), Misses: admin.NewMisses(time.Now),
		Parts: r.AdminRoutes, Token: s.AdminToken, Approver: s.ApproverToken, Reader: s.ReaderToken,
		Local: isLocal(l), Hosts: hosts(s, r.Settings.Admin), Metrics: r.Metrics, Log: r.Log,
		Level: r.Level, Ending: ctx.Done(),
	}
	switch {
	case s.AdminToken == "" && !api.Local:
		err := fmt.Errorf("--admin %s can be reached from other machines, and everybody who reaches it decides what runs: set %sADMIN_TOKEN, or listen on 127.0.0.1",
			s.Admin, config.Prefix)
		return errors.Join(err, l.Close())
	case s.AdminToken == "":
		r.Log.Warn("everyone on this machine may change the rules: set a token", "event", "open_admin",
			"address", l.Addr().String(), "setting", config.Prefix+"ADMIN_TOKEN")
	}
	h, address := api.Handler(), "http://"+l.Addr().String()
	r.admin = address
	r.Log.Info("serving the admin API", "event", "admin_start", "address", address)
	if r.AdminPages != nil {
		if h, err = r.AdminPages(api, h); err != nil {
			return errors.Join(err, l.Close())
		}
		r.Log.Info("the console is at "+address+"/", "event", "console_start", "address", address+"/")
	}
	r.Background(func(context.Context) {
		if err := admin.Serve(ctx, l, h, r.Log); err != nil {
			r.Log.Error("the admin API has ended", "event", "admin_failed", "detail", err.Error())
		}
	})
	return nil
}

// listener returns the passed listener of this name, or one at the address of a flag. A passed one keeps
// its address, which *address then becomes.
func (r *running) listener(name string, address *string, flag string) (net.Listener, error) {
	l, err := r.Given.Listener(name)
	if err != nil || l == nil {
		if err == nil {
			l, err = listenAt(*address, flag)
		}
		return l, err
	}
	r.sharesSocket = !r.Given.FromPrevious()
	r.Log.Info("a socket is open already", "event", "socket_given", "socket", name,
		"address", l.Addr().String())
	if !listensAt(l.Addr(), *address) {
		if r.Given.FromPrevious() {
			r.Log.Warn("the socket of the process before is kept: another address is taken at a restart, and not by SIGUSR2",
				"event", "socket_elsewhere", "socket", name, "address", l.Addr().String(),
				"setting", *address)
		}
		*address = l.Addr().String()
	}
	return l, nil
}

// listensAt reports whether a socket has an address. Port 0 matches any.
func listensAt(socket net.Addr, address string) bool {
	is, tcp := socket.(*net.TCPAddr)
	want, err := net.ResolveTCPAddr("tcp", address)
	if !tcp || err != nil {
		return false
	}
	all := func(ip net.IP) bool { return ip == nil || ip.IsUnspecified() }
	return (want.Port == is.Port || want.Port == 0) && (want.IP.Equal(is.IP) || all(want.IP) && all(is.IP))
}

// listenAt listens at the address of a flag.
func listenAt(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w; is another server running there? Choose another address with --%s", err,
			flag)
	case err != nil:
		return nil, fmt.Errorf("%w; --%s takes HOST:PORT of this machine, such as 127.0.0.1:8001", err, flag)
	}
	return l, nil
}

// isLocal reports whether a listener is reached from this machine only.
func isLocal(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// hosts returns the names in the setting hosts and the host of an address.
func hosts(s config.Settings, address string) []string {
	names := strings.FieldsFunc(s.Hosts, func(r rune) bool { return r == ',' || r == ' ' })
	if host, _, err := net.SplitHostPort(address); err == nil {
		names = append(names, host)
	}
	return names
}
