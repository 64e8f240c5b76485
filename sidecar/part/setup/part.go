// Package setup leads agents to the sidecar, looks at what it needs, and says what it costs: tokens as the
// sidecar counts them, and prices as the user gives them. The demo starts the real server in front of a
// scripted model server, and checks what it shows; no command that a reply asks for is ever run. It starts
// and restarts no gateway, and changes nothing but what is ours, where it is told to.
package setup

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part is the part setup.
type Part struct{}

// Name is that of the part.
func (Part) Name() string { return "setup" }

// Settings are none.
func (Part) Settings() any { return nil }

// Commands are those of a person who sets things up.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{connectCommand(env, ""), connectCommand(env, theGateway), doctorCommand(env),
		costCommand(env), demoCommand(env)}
}

// Open adds nothing to a server.
func (Part) Open(context.Context, *service.Core) (func() error, error) { return nil, nil }
