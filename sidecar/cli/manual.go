package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// PageWidth is the maximal number of characters on a line of help.
const PageWidth = 80

// flagWidth is the column of the descriptions of flags. A longer flag has a line of its own.
const flagWidth = 28

//go:embed help.txt
var helpText string

// Describe gives commands and all below them the help in a text: a section "== PATH" each, with a summary,
// what the command does, and examples.
func Describe(text string, list ...*cobra.Command) []*cobra.Command {
	for _, c := range list {
		path := strings.TrimPrefix(c.CommandPath(), "gpt-oss-executor ")
		_, section, _ := strings.Cut("\n"+text, "\n== "+path+"\n")
		section, _, _ = strings.Cut(section, "\n\n== ")
		section, c.Example, _ = strings.Cut(strings.TrimRight(section, "\n"), "\n\nExamples:\n")
		c.Short, section, _ = strings.Cut(section, "\n\n")
		c.Long = section + c.Long
		Describe(text, c.Commands()...)
	}
	return list
}

// Page returns the help of a command: description, usage, examples, subcommands and flags.
func Page(c *cobra.Command) string {
	var b strings.Builder
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", terminal.Filled(about, PageWidth), usage(c),
		c.Example)
	if c.HasAvailableSubCommands() {
		b.WriteString(commands(c, false))
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.AddFlagSet(c.LocalFlags())
	all.AddFlagSet(c.InheritedFlags())
	b.WriteString("\nFlags:\n")
	margin := "\n" + strings.Repeat(" ", flagWidth)
	for line := range strings.Lines(all.FlagUsages()) {
		name, text, _ := strings.Cut(strings.TrimLeft(line, " "), "   ")
		name = fmt.Sprintf("%*s%s", strings.Index(line, "-"), "", name)
		if len(name) > flagWidth-2 {
			name += margin
		}
		text = terminal.Filled(strings.TrimSpace(text), PageWidth-flagWidth)
		fmt.Fprintf(&b, "%-*s%s\n", flagWidth, name, strings.ReplaceAll(text, "\n", margin))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about one of them: %s COMMAND --help\n", c.CommandPath())
	}
	return b.String()
}

// groups lists the commands on the first page of help, each group after its title.
func groups() [][]string {
	return [][]string{
		{"Start", "demo", "connect", "openclaw", "serve", "doctor"},
		{"Rules", "init", "check", "test", "explain", "apply", "rules"},
		{"Safety", "policy", "approvals", "decisions", "confine"},
		{"Watch", "capture", "report", "experiments", "runs"},
		{"More", "help", "version"},
	}
}

// commands lists the subcommands of a command. For the program these are the groups, or with rest the
// commands outside of them.
func commands(c *cobra.Command, rest bool) string {
	shown := [][]string{{"Commands"}}
	switch {
	case rest:
		shown[0][0] = "More commands"
	case !c.HasParent():
		shown = groups()
	}
	var b strings.Builder
	for _, group := range shown {
		fmt.Fprintf(&b, "\n%s:\n", group[0])
		for _, sub := range c.Commands() {
			name := sub.Name()
			if in := slices.Contains(group, name) || len(group) == 1 &&
				!(rest && slices.Contains(slices.Concat(groups()...), name)); in &&
				(sub.IsAvailableCommand() || name == "help") {
				fmt.Fprintf(&b, "  %-*s  %s\n", sub.NamePadding(), name, sub.Short)
			}
		}
	}
	return b.String()
}

// usage returns the usage line of a command.
func usage(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return c.CommandPath() + " COMMAND"
	}
	return c.UseLine()
}

// HelpCommand shows the help of the command that its arguments name.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "help [COMMAND…]",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"more"}) {
				_, err := fmt.Fprint(c.OutOrStdout(), commands(c.Root(), true)[1:])
				return err
			}
			about, err := findCommand(c, args)
			if err != nil {
				return err
			}
			return about.Help()
		},
	}
}

// findCommand finds a command by its path.
func findCommand(c *cobra.Command, words []string) (*cobra.Command, error) {
	about, rest, err := c.Root().Find(words)
	if err == nil && len(rest) > 0 {
		err = unknownWord(about, rest[0])
	}
	if err != nil {
		return nil, Misused(c, err)
	}
	return about, nil
}

// CompletionCommand prints the completion script of a shell.
func CompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(Arguments(1, 1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(out, true)
			case "zsh":
				return c.Root().GenZshCompletion(out)
			case "fish":
				return c.Root().GenFishCompletion(out, true)
			}
			return c.Root().GenPowerShellCompletionWithDesc(out)
		},
	}
}

// Misuse is an error in the usage of a command.
type Misuse struct{ error }

// Misused marks an error as misuse, and adds where to read about the usage.
func Misused(c *cobra.Command, err error) error {
	return Misuse{fmt.Errorf("%w\nTry: %s --help", err, c.CommandPath())}
}

// unknownWord returns the error of a word that is no subcommand of c.
func unknownWord(c *cobra.Command, word string) error {
	if why := built.Without(built.Command, word); why != "" && !c.HasParent() {
		return errors.New(why)
	}
	var words []string
	for _, sub := range c.Commands() {
		words = append(words, sub.Name())
	}
	return fmt.Errorf("unknown command %q for %q; %s", word, c.CommandPath(),
		rulefile.DidYouMean(word, words))
}

// WrongFlag returns the handler of flag errors. Where a command only groups others, a wrong subcommand
// makes its flags unknown too; then the error names the subcommand.
func WrongFlag(args []string) func(*cobra.Command, error) error {
	return func(c *cobra.Command, err error) error {
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) {
			return Misused(c, fmt.Errorf("--%s takes %s, not %q", bad.GetFlag().Name,
				valueWords(bad.GetFlag()), bad.GetValue()))
		}
		var lacks *pflag.ValueRequiredError
		if errors.As(err, &lacks) {
			return Misused(c, fmt.Errorf("--%s takes %s, and nothing stands behind it", lacks.GetFlag().Name,
				valueWords(lacks.GetFlag())))
		}
		if c.HasSubCommands() {
			_, rest, _ := c.Root().Find(args)
			c.FParseErrWhitelist.UnknownFlags = true
			if c.ParseFlags(rest) == nil && c.Flags().NArg() > 0 {
				err = unknownWord(c, c.Flags().Arg(0))
			}
		}
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			key := strings.ReplaceAll(unknown.GetSpecifiedName(), "-", "_")
			var flags []string
			c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
			if why := built.Without(built.Setting, key); why != "" && c.Flags().Lookup("upstream") != nil {
				err = errors.New(why)
			} else if key == rulesFlag && takesFolder(c) {
				err = fmt.Errorf("%w; the folder is an argument: %s DIR", err, c.CommandPath())
			} else if near, ok := rulefile.Nearest("--"+unknown.GetSpecifiedName(), flags); ok &&
				unknown.GetSpecifiedShortnames() == "" { // one letter is similar to every short flag
				err = fmt.Errorf("%w; did you mean %s?", err, near)
			}
		}
		return Misused(c, err)
	}
}

// takesFolder reports whether the argument of a command is a folder of rules.
func takesFolder(c *cobra.Command) bool {
	return c.Parent() == c.Root() && strings.Contains(c.Use, "DIR")
}

// valueWords describes the values of a flag.
func valueWords(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "duration":
		return "a time such as 90s, 10m or 2h"
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// Arguments accepts from least to most arguments. Otherwise its error shows the usage.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return fmt.Errorf("write %s, not %s", c.UseLine(),
			Clipped(strings.Join(append([]string{c.CommandPath()}, args...), " ")))
	}
}

// SetUpHelp sets up help and usage errors of a command and all its subcommands. A command without an action
// shows its help.
func SetUpHelp(c *cobra.Command) {
	if c.HasSubCommands() {
		c.Args = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownWord(c, args[0])
			}
			return nil
		}
		if c.RunE == nil {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	for _, sub := range c.Commands() {
		SetUpHelp(sub)
	}
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := cmp.Or(unusedFlag(c), check(c, args)); err != nil {
			return Misused(c, err)
		}
		return nil
	}
}

// modes is the key of the annotation that Modes writes.
const modes = "modes"

// Modes declares the modes of a command, a line each: the flag that selects the mode, and the flags that
// have an effect in it, such as "jsonl: confined cwd". A value may follow the flag, as in "as=corpus: to".
// An empty flag stands for the mode without any of them. A flag without effect is refused, not ignored.
func Modes(c *cobra.Command, lines ...string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[modes] = strings.Join(lines, "\n")
}

// mode is a parsed line of Modes.
type mode struct {
	flag, value string
	flags       []string
}

func modesOf(c *cobra.Command) (out []mode) {
	for line := range strings.Lines(c.Annotations[modes]) {
		by, list, _ := strings.Cut(line, ":")
		flag, value, _ := strings.Cut(by, "=")
		out = append(out, mode{flag, value, strings.Fields(list)})
	}
	return out
}

// on reports whether the flags of a command select the mode.
func (m mode) on(c *cobra.Command) bool {
	f := c.Flags().Lookup(m.flag)
	return f != nil && f.Changed && f.Value.String() != "false" && (m.value == "" ||
		f.Value.String() == m.value)
}

// unusedFlag returns an error if a flag has no effect in the selected mode.
func unusedFlag(c *cobra.Command) (err error) {
	all := modesOf(c)
	if all == nil {
		return nil
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		chosen := false
		var with []string // modes in which it has an effect
		for _, m := range all {
			is := m.flag == f.Name && (m.value == "" || m.value == f.Value.String())
			if m.on(c) && !is && !slices.Contains(m.flags, f.Name) && err == nil {
				err = fmt.Errorf("--%s has no effect with --%s; leave one of them out", f.Name,
					strings.TrimSpace(m.flag+" "+m.value))
			}
			chosen = chosen || m.flag != "" && m.on(c)
			if slices.Contains(m.flags, f.Name) && m.flag != "" {
				with = append(with, "--"+strings.TrimSpace(m.flag+" "+m.value))
			}
		}
		byDefault := func(m mode) bool {
			return m.flag == "" && slices.Contains(m.flags, f.Name) || m.flag == f.Name
		}
		if !chosen && err == nil && f.Name != "help" && !slices.ContainsFunc(all, byDefault) {
			err = fmt.Errorf("--%s has no effect here", f.Name)
			if len(with) > 0 {
				err = fmt.Errorf("--%s has an effect only with %s", f.Name, orList(with))
			}
		}
	})
	return err
}

// orList joins names with commas and "or".
func orList(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
