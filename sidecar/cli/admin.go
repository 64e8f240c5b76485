package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// serveAdmin serves the admin API until ctx ends, if there is an address for it.
// ended waits for that.
func serveAdmin(ctx context.Context, s ruleset.Settings, live *sidecar.Live, world guard.World, asked *approvals.Store, kept *decisions.Log, log *slog.Logger, m *telemetry.Metrics) (ended func(), err error) {
	if s.Admin == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", s.Admin)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w; choose another address with --admin", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; --admin takes HOST:PORT of this machine, such as 127.0.0.1:8002", err)
	}
	local := isLocal(l)
	switch {
	case s.AdminToken == "" && !local:
		err := fmt.Errorf("--admin %s is reached from other machines, and whoever reaches it decides what runs: set %sADMIN_TOKEN, or listen on 127.0.0.1",
			s.Admin, ruleset.SettingPrefix)
		return nil, errors.Join(err, l.Close())
	case s.AdminToken == "":
		log.Warn("everyone on this machine may change the rules: set a token", "event", "open_admin",
			"address", l.Addr().String(), "setting", ruleset.SettingPrefix+"ADMIN_TOKEN")
	}
	admin := &sidecar.Admin{Live: live, World: world, Approvals: asked, Decisions: kept, Token: s.AdminToken, Hosts: hosts(s, s.Admin), Local: local, Metrics: m, Log: log, Ending: ctx.Done()}
	log.Info("serving the admin API", "event", "admin_start", "address", "http://"+l.Addr().String())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := sidecar.RunAdmin(ctx, l, admin.Handler(), log); err != nil {
			log.Error("the admin API has ended", "event", "admin_failed", "detail", err.Error())
		}
	}()
	return func() { <-done }, nil
}
