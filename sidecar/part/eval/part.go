package eval

import (
	"context"
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part implements service.Part.
type Part struct{}

func (Part) Name() string { return "eval" }

func (Part) Settings() any { return nil }

//go:embed help.txt
var help string

// Commands returns the commands eval and noise.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return cli.Describe(help, evalCommand(env), noiseCommand(env))
}

// Open adds nothing to a server.
func (Part) Open(context.Context, *service.Core) (func() error, error) { return nil, nil }
