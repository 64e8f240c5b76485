package cli_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
)

func TestMain(m *testing.M) { cli.Main(m, stage.Parts()) }
