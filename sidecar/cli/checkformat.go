package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func (v *verdict) write(as string, env Env) error {
	switch as {
	case "json":
		v.Problems = append(rulefile.Problems{}, v.Problems...) // a list, also where there is none
		return env.Paper(true).Whole(v, nil)
	case "github":
		for i := range v.Problems {
			fmt.Fprintln(env.Out, v.Problems[i].WorkflowCommand())
		}
		v.summary(env.Out, env.Out)
		return nil
	}
	if v.Err != nil {
		return v.Err
	}
	if len(v.Problems) > 0 {
		fmt.Fprintln(env.Err, v.Problems.Error())
	}
	v.summary(env.Out, env.Err)
	return nil
}

// summary is the last line: how many problems there are, or that there is none.
func (v *verdict) summary(good, bad io.Writer) {
	n := v.Counts
	var parts []string
	if n.Problems > 0 {
		parts = append(parts, terminal.Count(n.Problems, "problem"))
	}
	if n.Warnings > 0 {
		parts = append(parts, terminal.Count(n.Warnings, "warning"))
	}
	if len(parts) > 0 {
		fmt.Fprintln(bad, strings.Join(parts, ", "))
	}
	for _, t := range v.Taken {
		fmt.Fprintln(good, t)
	}
	if v.OK {
		fmt.Fprintf(good, "rules %s: %d files, %d conditions, %d patterns, %d examples, %d tests: ok (%d ms)\n",
			v.Version, n.Files, n.Conditions, n.Patterns, n.Examples, n.Tests, v.took.Milliseconds())
	}
}
