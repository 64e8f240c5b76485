package ruleset_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// The schema of the config file has the settings of all parts, which import this package.
func TestSchemasAreFresh(t *testing.T) {
	var parts []any
	for _, p := range program.Parts() {
		if of := p.Settings(); of != nil {
			parts = append(parts, of)
		}
	}
	ruleset.FreshSchemas(t, parts...)
}
