package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

func (l *logged) verifyCommand() *cobra.Command {
	var heads []string
	c := l.command("verify", "Check that the log is complete and unchanged", cobra.NoArgs, func(dir string, _ []string) error {
		return l.verify(dir, heads)
	})
	c.Long = `Check that the log is complete and unchanged. Every byte and every record is checked.
Each problem is shown with its record and its file:line.

Each record holds the hash of the record before it. Whoever changes one must also change
all later ones, and the file head.json. To find even that, run decisions head regularly,
keep what it prints on another machine, and give it to verify with --head: it proves all
records up to that one.

Exit code: 0 nothing is wrong, 1 a problem was found, 2 wrong usage.`
	c.Example = `  gpt-oss-executor decisions verify
  gpt-oss-executor decisions verify --head 1042:5f0c…`
	c.Flags().StringArrayVar(&heads, "head", nil, "`SEQ:HASH` that decisions head printed earlier; can be given several times")
	jsonFlag(c, &l.json, "one document")
	return c
}

func (l *logged) verify(dir string, heads []string) error {
	var expect []decisions.Checkpoint
	for _, h := range heads {
		at, err := decisions.ParseCheckpoint(h)
		if err != nil {
			return err
		}
		expect = append(expect, at)
	}
	r, err := decisions.Verify(dir, expect...)
	if err != nil {
		return err
	}
	if err = l.env.paper(l.json).whole(r, reportRows(r)); err == nil && len(r.Problems) > 0 {
		err = errSaid
	}
	return err
}

func reportRows(r *decisions.Report) []row {
	var out rows
	for _, p := range r.Problems {
		out.say("%s", p)
	}
	out.say("%s in %s, %d to %d", count(int(r.Records), "record"), count(r.Segments, "file"), r.First, r.Last.Seq)
	if r.Removed > 0 {
		out.say("  the first %d were removed by retention", r.Removed)
	}
	if r.Lost > 0 {
		out.say("  %d decisions could not be written; the log says where", r.Lost)
	}
	if r.AfterHead > 0 && len(r.Problems) == 0 {
		out.say("  the last %d are newer than head.json, which is written every five minutes", r.AfterHead)
	}
	if r.Signatures > 0 {
		out.say("  an earlier version of this program signed %s; signatures are no longer checked", count(r.Signatures, "record"))
	}
	if n := len(r.Problems); n > 0 {
		out.say("%s", count(n, "problem"))
	} else {
		out.say("nothing was changed")
	}
	return out.list
}

func (l *logged) headCommand() *cobra.Command {
	c := l.command("head", "Print SEQ:HASH of the last record, to keep on another machine", cobra.NoArgs, func(dir string, _ []string) error {
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
