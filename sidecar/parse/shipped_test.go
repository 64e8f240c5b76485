package parse_test

import (
	"os"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// shipped is the set that is built into the binary: what is measured here is what
// is served.
var shipped = loadShipped()

func loadShipped() *ruleset.Set {
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		panic(err)
	}
	set, problems := ruletest.Loader().Load(files)
	if set == nil {
		panic(problems)
	}
	return set
}
