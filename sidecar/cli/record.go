package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// record writes a test for a reply into the folder, or prints it where the rules
// are the built-in ones.
func record(src rulefile.Source, f testFlags, env Env) error {
	set, err := LoadFrom(src, env)
	if err != nil {
		return err
	}
	rec, err := readReply([]string{f.record}, env)
	if err != nil {
		return err
	}
	if f.name == "" {
		f.name = strings.TrimSuffix(filepath.Base(f.record), filepath.Ext(f.record))
	}
	reading, err := replay.RecordTest(set, env.World(src.Dir, src.Policy), ruleset.DefaultProfile, f.name, rec)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return AddTests(src, env, reading)
}

// AddTests writes tests into the folder, or prints them where the rules are the built-in ones.
func AddTests(src rulefile.Source, env Env, readings ...ruleset.Recording) error {
	const name = "tests/recorded.yaml"
	path := filepath.Join(src.Dir, filepath.FromSlash(name))
	text := ""
	if src.Dir != "" {
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("record: %w", err)
		}
		text = string(before)
	}
	for _, r := range readings {
		var err error
		if text, err = ruleset.AppendTest(text, r); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	if src.Dir == "" {
		_, err := io.WriteString(env.Out, text)
		return err
	}
	if err := Edit(src, env, name, text); err != nil {
		return err
	}
	for _, r := range readings {
		fmt.Fprintf(env.Out, "wrote the test %q to %s; check it: it expects that the reply is read as it is read today\n", r.Name, path)
	}
	return nil
}
