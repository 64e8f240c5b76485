package eval

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part is the part eval.
type Part struct{}

// Name is that of the part.
func (Part) Name() string { return "eval" }

// Settings are none.
func (Part) Settings() any { return nil }

// Commands are those that measure how replies are read.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{evalCommand(env), noiseCommand(env)}
}

// Open adds nothing to a server.
func (Part) Open(context.Context, *service.Core) (func() error, error) { return nil, nil }
