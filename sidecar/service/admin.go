package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// tokens are those of the admin API.
func tokens(s config.Settings) web.Tokens {
	return web.Tokens{Admin: s.AdminToken, Approver: s.ApproverToken, Reader: s.ReaderToken}
}

// serveAdmin serves the admin API, and the pages of a part, until the server stops, if there is an address
// for it.
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
	r.adminAt = l
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
