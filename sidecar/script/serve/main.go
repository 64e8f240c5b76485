// Command serve runs the scripted gpt-oss server by hand: point a gateway, the sidecar or curl at it, and
// name a kind of damage in the message. With --ask it plays callers instead, for an experiment.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"text/tabwriter"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8000", "address to listen on")
	dialect := flag.String("dialect", "vllm",
		"which server to be: vllm, vllm-old, ollama, llamacpp, sglang, lmstudio")
	line := flag.String("start", "",
		"for doctor: damage nothing, and be a server with these flags, such as '--jinja -c 8192'; default: with none")
	ask := flag.String("ask", "", "be callers of this URL, and no server")
	from := flag.Int("from", 0, "with --ask: the number of the first session")
	to := flag.Int("to", 100, "with --ask: the number behind the last one")
	flag.Parse()
	play := func() error { return run(*listen, *dialect) }
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "start" {
			play = func() error { return started(*listen, *dialect, *line) }
		}
	})
	if *ask != "" {
		play = func() error { return servers.Sessions(context.Background(), *ask, *from, *to) }
	}
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// short is a prompt with which the scripted model is better.
const short = "Be short."

func run(listen, dialect string) error {
	var scenarios []script.Scenario
	for _, k := range script.Kinds() {
		scenarios = append(scenarios, k.Endless(k.Tool, args(k.Tool), "That was "+k.ID+"."))
	}
	scenarios = append(scenarios, servers.Prompted(short))
	s := script.New(append(scenarios, script.Scenario{Steps: []script.Reply{script.Text("Hello.")},
		Loop: true})...)
	d, err := find(dialect)
	if err != nil {
		return err
	}
	s.Dialect = d
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("A scripted gpt-oss server (%s) at http://%s/v1. Say one of these in a message.\n"+
		"Each time you get that reply, with a call; the result of a call gets a sentence.\n", d.ID, l.Addr())
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, k := range script.Kinds() {
		fmt.Fprintf(t, "  %s\t%s\n", k.ID, k.About)
	}
	fmt.Fprintf(t, "  read number N\tno damage, for experiments: with %q in the prompt it reads a file that is there\n", short)
	if err := t.Flush(); err != nil {
		return err
	}
	return http.Serve(l, s)
}

// started serves as a server of the dialect that was started with a command line.
func started(listen, dialect, line string) error {
	d, err := find(dialect)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("A scripted gpt-oss server (%s, started with %q) at http://%s/v1\n", d.ID, line, l.Addr())
	return http.Serve(l, servers.New(d, servers.StartOf(d, line)))
}

func find(id string) (script.Dialect, error) {
	for _, d := range servers.Dialects() {
		if d.ID == id {
			return d, nil
		}
	}
	return script.Dialect{}, fmt.Errorf("no dialect %q", id)
}

// args returns harmless arguments for a tool of OpenClaw.
func args(tool string) string {
	switch tool {
	case "read":
		return `{"path":"notes.txt"}`
	case "write":
		return `{"path":"notes.txt","content":"one\ntwo\n"}`
	}
	return `{"command":"echo hello"}`
}
