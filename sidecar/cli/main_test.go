package cli_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
)

func TestMain(m *testing.M) { cli.Main(m, program.Parts()) }
