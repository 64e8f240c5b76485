package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

func (l *decisionFlags) verifyCommand() *cobra.Command {
	var heads []string
	c := l.command("verify [DIR...]", "Check that the log is complete and unchanged", cobra.ArbitraryArgs,
		func(dir string, more []string) error {
			return l.verify(dir, more, heads)
		})
	c.Long = `Check that the log is complete and unchanged. Every byte and every record is checked.
Each problem is shown with its record and its file:line.

Each record holds the hash of the record before it. Whoever changes one must also change
all later ones, and the file head.json. To find even that, run decisions head regularly,
keep what it prints on another machine, and give it to verify with --head: it proves all
records up to that one.

DIR are the logs of other replicas. Each is checked, and what they say of each other: a call
that passed with an approval had one, in one of the logs, and no other call had the same.

Exit code: 0 nothing is wrong, 1 a problem was found, 2 wrong usage.`
	c.Example = `  gpt-oss-executor decisions verify
  gpt-oss-executor decisions verify --head 1042:5f0c…
  gpt-oss-executor decisions verify --decisions a/decisions b/decisions`
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
	c := l.command("head", "Print SEQ:HASH of the last record, to keep on another machine", Arguments(0, 0),
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
	c.Example = `  gpt-oss-executor decisions head >> heads.txt`
	return c
}
