package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func (v *verdict) write(as string, env Env) error {
	switch as {
	case "json":
		return v.json(env)
	case "github":
		for i := range v.problems {
			fmt.Fprintln(env.Out, workflowCommand(&v.problems[i]))
		}
		v.summary(env.Out, env.Out)
		return nil
	}
	if v.err != nil {
		return v.err
	}
	if len(v.problems) > 0 {
		fmt.Fprintln(env.Err, v.problems.Error())
	}
	v.summary(env.Out, env.Err)
	return nil
}

// summary is the last line: how many problems there are, or that there is none.
func (v *verdict) summary(good, bad io.Writer) {
	problems, warnings := v.tally()
	var parts []string
	if problems > 0 {
		parts = append(parts, count(problems, "problem"))
	}
	if warnings > 0 {
		parts = append(parts, count(warnings, "warning"))
	}
	if len(parts) > 0 {
		fmt.Fprintln(bad, strings.Join(parts, ", "))
	}
	if v.ok() {
		n := v.counts
		fmt.Fprintf(good, "rules %s: %d files, %d conditions, %d patterns, %d examples, %d tests: ok (%d ms)\n",
			v.version, n.Files, n.Conditions, n.Patterns, n.Examples, n.Tests, time.Since(v.began).Milliseconds())
	}
}

// json is the verdict as one document. Its keys stay; further ones may come.
func (v *verdict) json(env Env) error {
	problems, warnings := v.tally()
	out := struct {
		Version  string            `json:"version"` // of the rules; empty where they cannot be read
		OK       bool              `json:"ok"`
		Counts   map[string]int    `json:"counts"` // of rules 0 where they do not load
		Problems rulefile.Problems `json:"problems"`
	}{v.version, v.ok(), map[string]int{
		"files": v.counts.Files, "conditions": v.counts.Conditions, "patterns": v.counts.Patterns, "examples": v.counts.Examples, "tests": v.counts.Tests,
		"problems": problems, "warnings": warnings,
	}, append(rulefile.Problems{}, v.problems...)}
	return env.paper(true).whole(out, nil)
}

var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// workflowCommand makes GitHub show a problem at its line.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func workflowCommand(p *rulefile.Problem) string {
	level := "error"
	if p.Warning {
		level = "warning"
	}
	var properties []string
	if p.File != "" {
		properties = append(properties, "file="+inProperty.Replace(p.File))
	}
	if p.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d,col=%d,endColumn=%d", p.Line, p.Col, p.EndCol))
	}
	properties = append(properties, "title="+inProperty.Replace(p.Code))
	msg := p.Msg
	if p.Hint != "" {
		msg += "\n" + p.Hint
	}
	return fmt.Sprintf("::%s %s::%s", level, strings.Join(properties, ","), inMessage.Replace(msg))
}
