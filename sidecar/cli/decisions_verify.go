package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

func (l *logged) verifyCommand() *cobra.Command {
	var heads []string
	c := l.command("verify", "Is the log whole and unchanged?", cobra.NoArgs, func(dir string, _ []string) error {
		return l.verify(dir, heads)
	})
	c.Long = `Is the log whole and unchanged? Every byte and every record is checked. Each problem
comes with the record and its file:line.

Each record holds the hash of the one before. So whoever changes one must change all
that follow, and the head. Against somebody who can do that, keep what decisions head
prints on another machine, and give it with --head: it vouches for all records up to
that one. The newest records, behind the head that stands in the folder, are vouched
for by the process that writes them alone.

It ends with 0 when nothing is wrong, with 1 when something is, and with 2 when it was
called wrongly.`
	c.Flags().StringArrayVar(&heads, "head", nil, "SEQ:HASH that decisions head once printed; may be given several times")
	c.Flags().BoolVar(&l.json, "json", false, "write one JSON document")
	return c
}

func (l *logged) verify(dir string, heads []string) error {
	var expect []decisions.Checkpoint
	for _, h := range heads {
		at, err := headOf(h)
		if err != nil {
			return err
		}
		expect = append(expect, at)
	}
	r, err := decisions.Verify(dir, expect...)
	if err != nil {
		return err
	}
	if l.json {
		err = writeJSON(l.env.Out, r)
	} else {
		_, err = fmt.Fprint(l.env.Out, reportText(r))
	}
	if err == nil && len(r.Problems) > 0 {
		err = errSaid
	}
	return err
}

// headOf reads SEQ:HASH.
func headOf(s string) (at decisions.Checkpoint, err error) {
	seq, hash, _ := strings.Cut(strings.TrimSpace(s), ":")
	if at.Seq, err = strconv.ParseUint(seq, 10, 64); err == nil {
		err = at.Hash.UnmarshalText([]byte(hash))
	}
	if err != nil {
		err = fmt.Errorf("--head: %q is not SEQ:HASH, as decisions head prints it", s)
	}
	return at, err
}

func reportText(r *decisions.Report) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, terminal.Printable(p.String()))
	}
	fmt.Fprintf(&b, "%s in %s, %d to %d\n", count(int(r.Records), "record"), count(r.Segments, "file"), r.First, r.Last.Seq)
	if r.Removed > 0 {
		fmt.Fprintf(&b, "  the first %d were removed by retention\n", r.Removed)
	}
	if r.Lost > 0 {
		fmt.Fprintf(&b, "  %d decisions could not be written when they fell; the log says where\n", r.Lost)
	}
	if r.Behind > 0 && len(r.Problems) == 0 {
		fmt.Fprintf(&b, "  the last %d stand behind the head, which moves on every five minutes\n", r.Behind)
	}
	if r.Signatures > 0 {
		fmt.Fprintf(&b, "  an earlier version of this program signed %s; signatures are not checked any more\n", count(r.Signatures, "record"))
	}
	if n := len(r.Problems); n > 0 {
		fmt.Fprintln(&b, count(n, "problem"))
	} else {
		fmt.Fprintln(&b, "nothing was changed")
	}
	return b.String()
}

func (l *logged) headCommand() *cobra.Command {
	c := l.command("head", "SEQ:HASH of the last record, to be kept on another machine", cobra.NoArgs, func(dir string, _ []string) error {
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
