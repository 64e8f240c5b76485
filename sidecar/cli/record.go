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
	set, err := loadFrom(src, env)
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
	reading, err := replay.Recording(set, env.world(src.Dir, src.Policy), ruleset.DefaultProfile, f.name, rec)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	const name = "tests/recorded.yaml"
	path := filepath.Join(src.Dir, filepath.FromSlash(name))
	var before []byte
	if src.Dir != "" {
		if before, err = os.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("record: %w", err)
		}
	}
	after, err := ruleset.AppendTest(string(before), reading)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if src.Dir == "" {
		_, err = io.WriteString(env.Out, after)
		return err
	}
	if err := edit(src, name, after); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "wrote the test %q to %s; check it: it expects that the reply is read as it is read today\n", f.name, path)
	return nil
}
