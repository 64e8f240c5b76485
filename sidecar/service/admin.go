package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// serveAdmin serves the admin API until ctx ends, if there is an address for it.
// ended waits for that.
func serveAdmin(ctx context.Context, s config.Settings, api *admin.API) (ended func(), err error) {
	if s.Admin == "" {
		return func() {}, nil
	}
	l, err := listenAt(s.Admin, "admin")
	if err != nil {
		return nil, err
	}
	api.Local = isLocal(l)
	switch {
	case s.AdminToken == "" && !api.Local:
		err := fmt.Errorf("--admin %s can be reached from other machines, and everybody who reaches it decides what runs: set %sADMIN_TOKEN, or listen on 127.0.0.1",
			s.Admin, config.Prefix)
		return nil, errors.Join(err, l.Close())
	case s.AdminToken == "":
		api.Log.Warn("everyone on this machine may change the rules: set a token", "event", "open_admin",
			"address", l.Addr().String(), "setting", config.Prefix+"ADMIN_TOKEN")
	}
	api.Log.Info("serving the admin API", "event", "admin_start", "address", "http://"+l.Addr().String())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := admin.Serve(ctx, l, api.Handler(), api.Log); err != nil {
			api.Log.Error("the admin API has ended", "event", "admin_failed", "detail", err.Error())
		}
	}()
	return func() { <-done }, nil
}
