package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/built"
)

// ManCommand prints the manual page of a command, or writes the pages of all commands into a folder.
func ManCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:  "man [COMMAND…]",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			var program built.Program
			if info, ok := debug.ReadBuildInfo(); ok {
				program = built.Of(info)
			}
			if c.Flags().Changed("dir") {
				if len(args) > 0 || dir == "" {
					return Misused(c, errors.New("--dir takes a folder, and writes the pages of all commands: name none"))
				}
				return writeMan(c.Root(), dir, program)
			}
			about, err := findCommand(c, args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), Man(about, program))
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the `FOLDER` into which all pages are written")
	return c
}

// writeMan writes the pages of a command and of all its subcommands.
func writeMan(c *cobra.Command, dir string, program built.Program) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, manName(c)+".1"), []byte(Man(c, program)),
		0o644); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeMan(sub, dir, program); err != nil {
				return err
			}
		}
	}
	return nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Man returns the manual page of a command, made of its help. Its date is that of the commit, so that
// builds are reproducible.
func Man(c *cobra.Command, program built.Program) string {
	var b strings.Builder
	date := ""
	if !program.Time.IsZero() {
		date = program.Time.UTC().Format("2006-01-02")
	}
	fmt.Fprintf(&b, ".TH %s 1 \"%s\" \"%s\" \"User Commands\"\n", roff(strings.ToUpper(manName(c))), date,
		roff("gpt-oss-executor "+program.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(usage(c)))
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, about)
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(sub)), roff(sub.Short))
			}
		}
	}
	b.WriteString(".SH OPTIONS\n")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.AddFlagSet(c.LocalFlags())
	all.AddFlagSet(c.InheritedFlags())
	all.VisitAll(func(f *pflag.Flag) { option(&b, f) })
	b.WriteString(".SH EXAMPLES\n")
	paragraphs(&b, c.Example)
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(manName(c.Parent())))
	}
	return b.String()
}

// option writes the entry of a flag.
func option(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	word, text := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if word != "" {
		word = " \\fI" + roff(word) + "\\fR"
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
		text += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR%s\n%s\n", roff(name), word, roff(text))
}

// paragraphs writes filled text; lines that begin with a blank are kept.
func paragraphs(b *strings.Builder, text string) {
	typed, apart := false, false
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			apart = true
			continue
		}
		if now := line[0] == ' '; now != typed {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[now])
			typed = now
		}
		if apart {
			b.WriteString(".PP\n")
			apart = false
		}
		b.WriteString(roff(line) + "\n")
	}
	if typed {
		b.WriteString(".fi\n")
	}
}

// roff escapes text, so that nothing in it is a roff command and it can be copied as typed.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, `"`, `\(dq`, "`", "\\(ga", "^", `\(ha`, "~",
		`\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
