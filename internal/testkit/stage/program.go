package stage

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/trace"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Parts are all of them.
func Parts() []cli.Part {
	return []cli.Part{trace.Part{}, replicas.Part{}, experiment.Part{}, run.Part{}, confine.Part{},
		console.Part{}, eval.Part{}, setup.Part{}}
}

// Loader compiles rules, with what all parts read of them.
func Loader() ruleset.Loader { return cli.Env{Parts: Parts()}.Loader() }

// Settings are those of all parts, by default.
func Settings() (out []any) {
	for _, p := range Parts() {
		if of := p.Settings(); of != nil {
			out = append(out, of)
		}
	}
	return out
}
