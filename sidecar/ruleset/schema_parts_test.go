package ruleset_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func TestMain(m *testing.M) { ruleset.RunTests(m, stage.Loader()) }

// The schema of the config file has the settings of all parts.
func TestSchemasAreFresh(t *testing.T) { ruleset.FreshSchemas(t, stage.Settings()...) }
