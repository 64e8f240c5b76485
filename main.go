// Command gpt-oss-executor stands between an OpenClaw gateway and a gpt-oss
// server, and makes what the model meant arrive as correct tool calls and clean
// text. This file embeds the default rules, prompts and schemas and hands over to the
// command line; all it sets itself is the pace of the garbage collector, and which parts there are.
package main

import (
	"embed"
	"os"
	"runtime/debug"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/trace"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

//go:embed rules prompts schemas
var defaults embed.FS

func main() {
	debug.SetGCPercent(service.StartPercent)
	os.Exit(cli.Run(os.Args[1:], cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(),
		Defaults: defaults, Parts: parts(),
	}))
}

// parts are those of the program. A part is left out with its two lines in this file.
func parts() []cli.Part {
	return []cli.Part{
		trace.Part{},
		replicas.Part{},
		experiment.Part{},
		run.Part{},
		confine.Part{},
		console.Part{},
		eval.Part{},
		setup.Part{},
	}
}
