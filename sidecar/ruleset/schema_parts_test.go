package ruleset_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// partSettings are the settings of all parts, which import this package.
func partSettings() (out []any) {
	for _, p := range program.Parts() {
		if of := p.Settings(); of != nil {
			out = append(out, of)
		}
	}
	return out
}

// The schema of the config file has the settings of all parts.
func TestSchemasAreFresh(t *testing.T) { ruleset.FreshSchemas(t, partSettings()...) }
