// Command dashboard writes the dashboard for Grafana, deploy/grafana/gpt-oss-executor.json, from the
// table of its panels. It knows no metrics: the tests of deploy/check hold the queries to those that exist.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "deploy/grafana/gpt-oss-executor.json",
		"the `FILE` to write; - is standard output")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(grafana(sections())); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	if out == "-" {
		_, err := os.Stdout.Write(text.Bytes())
		return err
	}
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	return nil
}
