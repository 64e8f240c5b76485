package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// FormatFile formats one file, and writes it where that is wanted.
func FormatFile(name string, write bool) (changed bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("read rules: %w", err)
	}
	out, problem := ruleset.Format(filepath.ToSlash(name), string(text))
	switch {
	case problem != nil:
		return false, rulefile.Problems{*problem}
	case out == string(text):
		return false, nil
	case !write:
		return true, nil
	}
	if err := atomicfile.Replace(name, []byte(out)); err != nil {
		return false, fmt.Errorf("write rules: %w", err)
	}
	return true, nil
}
