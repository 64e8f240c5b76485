package cli

import (
	"log/slog"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/gateway"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// openGateway is the gateway whose tools runs may call; nil: the settings name none.
func openGateway(s ruleset.Settings, log *slog.Logger) (*gateway.Client, error) {
	if s.Gateway == "" {
		return nil, nil
	}
	return gateway.New(gateway.Config{URL: s.Gateway, Token: s.GatewayToken, Session: s.GatewaySession, Now: time.Now, Log: log})
}
