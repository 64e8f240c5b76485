package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func compareCommand(env Env) *cobra.Command {
	var x comparing
	var policy string
	asJSON := false
	c := &cobra.Command{
		Use:   "compare OLD NEW FILE",
		Short: "Read recorded replies with two sets of rules, and compare",
		Long: `Read every record of FILE (- is standard input) with the rules in the folder OLD and
with those in NEW; builtin means the built-in rules. It shows the records that differ,
then the totals. A line of FILE is

  {"id": "r1", "message": {…}, "tools": […], "expect": {"calls":
   [{"name": "read", "arguments": {"path": "a"}}], "content": ""}}

that is, a record as explain --jsonl takes it, and "expect" with the right result, if
it is known. What "expect" leaves out is not compared. "calls": [] means no call. White
space in "content" does not count.

Exit code: 0 nothing got worse, 1 something did, or a line could not be read (with
--strict: or anything differs), 2 wrong usage.`,
		Example: `  gpt-oss-executor compare builtin my-rules replies.jsonl
  gpt-oss-executor compare old new - --json < replies.jsonl`,
		Args: cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			for i, to := range []**ruleset.Set{&x.before, &x.after} {
				set, err := loadProfile(args[i], policy, x.profile, env)
				if err != nil {
					return err
				}
				*to = set
			}
			x.world = env.World(args[0], args[1], policy)
			in, err := OpenInput(args[2:], env)
			if err != nil {
				return err
			}
			defer in.Close()
			return x.run(in, env.Paper(asJSON))
		},
	}
	JsonFlag(c, &asJSON, "a line for each record that differs, then {\"summary\": …}")
	c.Flags().BoolVar(&x.strict, "strict", false, "exit with 1 if anything differs")
	PolicyFlag(c, env, &policy)
	c.Flags().StringVar(&x.profile, "profile", "", "`PROFILE` of strategies.yaml")
	return c
}

// comparing is what compare was asked for.
type comparing struct {
	before, after *ruleset.Set
	world         guard.World
	profile       string
	strict        bool
}

// compared is what became of one line: a comparison, or why there is none.
type compared struct {
	Line  int    `json:"line"`
	Error string `json:"error,omitempty"`
	*replay.Comparison
}

// counts are how a corpus came out.
type counts struct {
	replay.Tally
	Unreadable int     `json:"unreadable"`
	P          float64 `json:"p"` // of the sign test
	Old        string  `json:"old_rules_version"`
	New        string  `json:"new_rules_version"`
}

func (x *comparing) run(in io.Reader, p *paper) error {
	lines := jsontext.Reader{In: in}
	total := counts{Old: x.before.Version, New: x.after.Version}
	jsontext.InOrder(lines.All(), x.line, func(c compared) {
		if c.Comparison == nil {
			total.Unreadable++
		} else {
			total.Add(c.Comparison)
		}
		if c.Comparison == nil || c.Change != replay.Same {
			p.Item(&c, comparedRows(&c))
		}
	})
	total.P = total.SignTest()
	p.Item(map[string]*counts{"summary": &total}, countsRows(&total))
	if err := p.Done(); err != nil {
		return err
	}
	return x.verdict(&total, lines.Err)
}

// line compares the record on one line.
func (x *comparing) line(l jsontext.Line) compared {
	rec, err := recordOn(l)
	if err != nil {
		return compared{Line: l.N, Error: err.Error()}
	}
	c, err := replay.Compare(x.before, x.after, x.world, x.profile, rec)
	if err != nil {
		return compared{Line: l.N, Error: err.Error()}
	}
	return compared{Line: l.N, Comparison: c}
}

// verdict is the error that the exit code stands for.
func (x *comparing) verdict(total *counts, broken error) error {
	differ := total.Better + total.Worse + total.Changed
	switch {
	case broken != nil:
		return broken
	case total.Unreadable > 0:
		return fmt.Errorf("%d lines could not be read", total.Unreadable)
	case total.All() == 0:
		return errors.New("compare: no record to compare")
	case total.Worse > 0, x.strict && differ > 0:
		return ErrSaid
	}
	return nil
}
