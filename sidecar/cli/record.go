package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
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
	doc, err := readInput(f.record, env)
	if err != nil {
		return err
	}
	rec, err := anyReply(doc)
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
	path := filepath.Join(src.Dir, "tests", "recorded.yaml")
	before := []byte(nil)
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
	if err := checkRecorded(src, after); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	write := atomicfile.Replace
	if before == nil {
		write = func(path string, text []byte) error { return atomicfile.Write(path, text, 0o644) }
	}
	if err := write(path, []byte(after)); err != nil { // whole, as the folder may be watched
		return fmt.Errorf("record: %w", err)
	}
	fmt.Fprintf(env.Out, "wrote the test %q to %s; check it: it expects that the reply is read as it is read today\n", f.name, path)
	return nil
}

// checkRecorded makes sure that the folder still loads with its new test.
func checkRecorded(src rulefile.Source, text string) error {
	files, err := src.Read()
	if err != nil {
		return err
	}
	files["tests/recorded.yaml"] = text
	if set, problems := ruleset.Load(files); set == nil {
		return fmt.Errorf("record: the test would not hold, so it was not written:\n%w", problems.In(src))
	}
	return nil
}

// readInput reads a file, or standard input for "-".
func readInput(name string, env Env) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(env.In, maxLine))
	}
	doc, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return doc, nil
}
