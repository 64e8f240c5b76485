// Package setup connects agents to the sidecar, checks what it needs, and computes its cost: tokens as the
// sidecar counts them, at prices that the user gives. The demo starts the real server in front of a
// scripted model server, and checks what it shows; no command of a reply is ever run. It starts and
// restarts no gateway, and changes only what is ours, and only when told to.
package setup

import (
	"context"
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part implements service.Part.
type Part struct{}

func (Part) Name() string { return "setup" }

func (Part) Settings() any { return nil }

//go:embed help.txt
var help string

// Commands returns connect, openclaw, doctor, demo and cost.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return cli.Describe(help, connectCommand(env, ""), connectCommand(env, theGateway), doctorCommand(env),
		costCommand(env), demoCommand(env))
}

// Open adds nothing to a server.
func (Part) Open(context.Context, *service.Core) (func() error, error) { return nil, nil }
