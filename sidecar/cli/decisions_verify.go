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
	var key string
	var heads []string
	c := l.command("verify", "Is the log whole and unchanged?", cobra.NoArgs, func(dir string, _ []string) error {
		return l.verify(dir, key, heads)
	})
	c.Long = `Is the log whole and unchanged? Every byte, every record, every signature. Each
problem comes with the record and its file:line.

What was written after the last signature can only be vouched for by the process that
writes it. A log that somebody cut back to an older signature, its head with it, is
found by what decisions head printed before, kept on another machine: give it with
--head. And whoever could write to the folder could have signed with a key of his own:
give the one that decisions key printed, with --public-key.

It ends with 0 when nothing is wrong, with 1 when something is, and with 2 when it was
called wrongly.`
	c.Flags().StringVar(&key, "public-key", "", "the key that signs the log, or a file with it (default: what the log says)")
	c.Flags().StringArrayVar(&heads, "head", nil, "SEQ:HASH that decisions head once printed; may be given several times")
	c.Flags().BoolVar(&l.json, "json", false, "write one JSON document")
	return c
}

func (l *logged) verify(dir, keyText string, heads []string) error {
	var key decisions.PublicKey
	var err error
	if keyText != "" {
		if key, err = decisions.ParsePublicKey(keyText); err != nil {
			return fmt.Errorf("--public-key: %w", err)
		}
	}
	var expect []decisions.Checkpoint
	for _, h := range heads {
		at, err := headOf(h)
		if err != nil {
			return err
		}
		expect = append(expect, at)
	}
	r, err := decisions.Verify(dir, key, expect...)
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
	fmt.Fprintf(&b, "%s in %s, %d to %d; %s\n", count(int(r.Records), "record"), count(r.Segments, "file"), r.First, r.Last.Seq, count(r.Checkpoints, "signature"))
	if r.Removed > 0 {
		fmt.Fprintf(&b, "  the first %d were removed by retention, which is signed\n", r.Removed)
	}
	if r.Lost > 0 {
		fmt.Fprintf(&b, "  %d decisions could not be written when they fell; the log says where\n", r.Lost)
	}
	if r.Unsigned > 0 && len(r.Problems) == 0 {
		fmt.Fprintf(&b, "  the last %d are not signed yet\n", r.Unsigned)
	}
	if !r.Trusted && r.Key != "" {
		fmt.Fprintf(&b, "  the key is the log's own, %s; compare it, or give --public-key\n", r.Key)
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

func (l *logged) keyCommand() *cobra.Command {
	return l.command("key", "The public key that the log is signed with", cobra.NoArgs, func(dir string, _ []string) error {
		key, err := decisions.KeyOf(dir)
		if err == nil {
			_, err = fmt.Fprintln(l.env.Out, key)
		}
		return err
	})
}
