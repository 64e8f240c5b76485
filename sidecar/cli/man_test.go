package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
)

func TestMan(t *testing.T) {
	nothing := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "prog", Short: "Do it"}
	sub := &cobra.Command{
		Use: "sub FILE", Short: "Read a file", Run: nothing,
		Long:    "Read it.\n.so/etc/passwd stays text, and so does \\fB.\n\n  'as' typed\n\n  again\nThe end.",
		Example: "  prog sub 'a b'",
	}
	sub.Flags().StringP("to", "t", "out", "the `FOLDER` to write")
	sub.Flags().Bool("strict", false, "be strict")
	sub.Flags().Bool("secret", false, "nobody reads this")
	if err := sub.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(sub, &cobra.Command{Use: "old", Hidden: true, Run: nothing})
	program := built.Program{Version: "v1.2.3", Time: time.Date(2026, 3, 4, 23, 0, 0, 0,
		time.FixedZone("", -7200))}
	want := `.TH PROG\-SUB 1 "2026-03-05" "gpt\-oss\-executor v1.2.3" "User Commands"
.SH NAME
prog\-sub \- Read a file
.SH SYNOPSIS
.B prog sub FILE [flags]
.SH DESCRIPTION
Read it.
\&.so/etc/passwd stays text, and so does \efB.
.nf
.PP
  \(aqas\(aq typed
.PP
  again
.fi
The end.
.SH OPTIONS
.TP
\fB\-\-strict\fR
be strict
.TP
\fB\-t, \-\-to\fR \fIFOLDER\fR
the FOLDER to write (default out)
.SH EXAMPLES
.nf
  prog sub \(aqa b\(aq
.fi
.SH SEE ALSO
.BR prog (1)
`
	if got := Man(sub, program); got != want {
		t.Errorf("the page is\n%s\nnot\n%s", got, want)
	}
	if got := Man(root, program); !strings.Contains(got,
		".SH COMMANDS\n.TP\n.BR prog\\-sub (1)\nRead a file\n.SH") {
		t.Errorf("the page above is\n%s", got)
	}
}
