// Command gpt-oss-executor-confine runs one command as its ticket says. A gateway starts it for each command,
// and it starts sooner than gpt-oss-executor, which takes the same words:
//
//	gpt-oss-executor-confine confine --ticket FILE -- COMMAND…
//	gpt-oss-executor-confine git-ssh …
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

func main() {
	ctx, args := context.Background(), os.Args[1:]
	switch {
	case len(args) > 4 && args[0] == "confine" && args[1] == "--ticket" && args[3] == "--":
		os.Exit(walls.RunTicket(ctx, args[2], args[4:], os.Environ(),
			walls.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	case len(args) > 0 && args[0] == walls.SSH:
		os.Exit(walls.RunSSH(ctx, args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	fmt.Fprintln(os.Stderr, walls.Program+": it takes confine --ticket FILE -- COMMAND…; gpt-oss-executor confine takes more")
	os.Exit(2)
}
