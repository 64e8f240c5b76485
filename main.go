// Command gpt-oss-executor stands between an OpenClaw gateway and a gpt-oss
// server, and makes what the model meant arrive as correct tool calls and clean
// text. This file embeds the default rules and prompts and hands over to the
// command line; it does nothing else.
package main

import (
	"embed"
	"io/fs"
	"os"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
)

//go:embed rules prompts
var defaults embed.FS

func main() {
	rules, err := fs.Sub(defaults, "rules")
	if err != nil { // the folder is embedded above
		panic(err)
	}
	os.Exit(cli.Run(os.Args[1:], cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(),
		Rules: rules, All: defaults,
	}))
}
