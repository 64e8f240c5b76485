package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

func (l *decisionFlags) verifyCommand() *cobra.Command {
	var heads []string
	c := l.command("verify [DIR...]", cobra.ArbitraryArgs,
		func(dir string, more []string) error {
			return l.verify(dir, more, heads)
		})
	c.Flags().StringArrayVar(&heads, "head", nil,
		"`SEQ:HASH` that decisions head printed earlier; can be given several times")
	JSONFlag(c, &l.json, "one document")
	return c
}

func (l *decisionFlags) verify(dir string, more, heads []string) error {
	var expect []decisions.Checkpoint
	for _, h := range heads {
		at, err := decisions.ParseCheckpoint(h)
		if err != nil {
			return err
		}
		expect = append(expect, at)
	}
	if len(more) > 0 {
		t, err := decisions.VerifyAll(append([]string{dir}, more...), expect...)
		if err != nil {
			return err
		}
		return l.verified(t, t.Lines(), t.Sound())
	}
	r, err := decisions.Verify(dir, expect...)
	if err != nil {
		return err
	}
	return l.verified(r, r.Lines(), len(r.Problems) == 0)
}

// verified prints the result.
func (l *decisionFlags) verified(doc any, lines []string, sound bool) error {
	var out Rows
	for _, line := range lines {
		out.Say("%s", line)
	}
	err := l.env.Printer(l.json).Document(doc, out.List)
	if err == nil && !sound {
		err = ErrReported
	}
	return err
}

func (l *decisionFlags) headCommand() *cobra.Command {
	c := l.command("head", Arguments(0, 0),
		func(dir string, _ []string) error {
			at, err := decisions.Last(dir)
			if err == nil && at.Seq == 0 {
				err = fmt.Errorf("decisions: there is no record in %s", dir)
			}
			if err == nil {
				_, err = fmt.Fprintf(l.env.Out, "%d:%s\n", at.Seq, at.Hash)
			}
			return err
		})
	return c
}
