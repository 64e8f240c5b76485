// Package cli is the command line: it reads flags, files and the environment, and calls the packages that
// do the work. It also writes the log of a server. It decides nothing about replies.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Env is what the caller of Run provides: streams, environment, built-in files and parts.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // NAME=value
	Defaults fs.FS    // built-in rules/, prompts/ and schemas/
	Parts    []Part   // in the order in which they open
}

// Part adds commands to the command line, and services to a server.
type Part interface {
	service.Part
	Commands(Env) []*cobra.Command
}

// Reader is a part with sections in the rule files.
type Reader interface{ Rules() []ruleset.Section }

// Loader returns a loader of rules that knows the sections of all parts.
func (e Env) Loader() (l ruleset.Loader) {
	for _, p := range e.Parts {
		if r, ok := p.(Reader); ok {
			l.Sections = append(l.Sections, r.Rules()...)
		}
	}
	return l
}

// Stdout is Out without the Writer that Run puts around it: to ask whether it is a terminal, or to hand it
// to a process.
func (e Env) Stdout() io.Writer { return Unwrap(e.Out) }

// Exit is an error that ends the program with this code and without a message.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ErrReported is an error whose message is already on Err.
const ErrReported = Exit(1)

// Run runs one command and returns its exit code: 0 success, 1 failure, 2 wrong usage; policy check has
// more.
func Run(args []string, env Env) int {
	out := &Writer{To: env.Out}
	env.Out = out
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetFlagErrorFunc(WrongFlag(args))
	err := cmp.Or(root.Execute(), out.Err)
	var code Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	errs := NewQueue(env.Err, func(int) {}) // the process must end even if nothing reads the error
	fmt.Fprintln(errs, "gpt-oss-executor:", err)
	_ = errs.Close()
	if errors.As(err, new(Misuse)) {
		return 2
	}
	return 1
}

// rootCommand builds the command tree.
func rootCommand(env Env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use: "gpt-oss-executor",
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				_, policy := env.ruleSettings()
				return printVersion(env, policy)
			}
			return c.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), Page(c)) })
	root.Flags().BoolVar(&version, "version", false, "do what the command version does")
	root.AddCommand(serveCommand(env), explainCommand(env), policyCommand(env),
		rulesCommand(env), checkCommand(env), fmtCommand(env), testCommand(env), initCommand(env),
		applyCommand(env), approvalsCommand(env), decisionsCommand(env), schemasCommand(env),
		varsCommand(env), versionCommand(env), CompletionCommand(), ManCommand())
	help := HelpCommand()
	root.AddCommand(help)
	Describe(strings.ReplaceAll(helpText, "{which rules}", whichRules), root)
	for _, p := range env.Parts {
		root.AddCommand(p.Commands(env)...)
	}
	root.SetHelpCommand(help)
	SetUpHelp(root)
	return root
}

// UntilStopped returns a context that ends at a signal, for commands that must clean up first.
func UntilStopped(c *cobra.Command) (context.Context, context.CancelFunc) {
	return Until(c.Context())
}

// JSONFlag adds the flag --json. how describes the layout of the JSON.
func JSONFlag(c *cobra.Command, to *bool, how string) {
	c.Flags().BoolVar(to, "json", false, "write JSON: "+how)
}

func versionCommand(env Env) *cobra.Command {
	var dir, policy string
	c := &cobra.Command{
		Use:  "version [DIR]",
		Args: cobra.MatchAll(Arguments(0, 1), notEmpty),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && c.Flags().Changed("rules") {
				return Misused(c, errors.New("name the folder once: as DIR, or with --rules"))
			}
			if len(args) == 0 && c.Flags().Changed("rules") {
				args = []string{dir}
			}
			return printVersion(env, policy, args...)
		},
	}
	RulesFlag(c, env, &dir)
	PolicyFlag(c, env, &policy)
	return c
}

// printVersion prints the version of the program, and of the rules if they can be read.
func printVersion(env Env, policy string, args ...string) error {
	var program built.Program
	if info, ok := debug.ReadBuildInfo(); ok {
		program = built.Of(info)
	}
	dir, named := env.rulesFolder(args, policy)
	_, files, err := ReadRules(dir, policy, env)
	if err != nil {
		fmt.Fprintf(env.Out, "gpt-oss-executor %s\n%s\n", program.Version, program)
		return err
	}
	fmt.Fprintf(env.Out, "gpt-oss-executor %s, rules %s: %s\n%s\n", program.Version, files.Version(), named,
		program)
	return nil
}

// parseRecord parses the record of a line. With an error it also returns the part that could be read.
func parseRecord(l jsontext.Line) (*replay.Record, error) {
	var rec replay.Record
	err := json.Unmarshal(l.Text, &rec)
	return &rec, jsontext.Error(err)
}

// OpenInput opens the named file, or else standard input.
func OpenInput(args []string, env Env) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(env.In), nil
	}
	return os.Open(args[0])
}

// answerLines writes an answer to each line of a JSON Lines file, and an error in place of a missing
// answer.
func answerLines(args []string, env Env, answer func(jsontext.Line) (any, json.RawMessage, error)) error {
	in, err := OpenInput(args, env)
	if err != nil {
		return err
	}
	defer in.Close()
	p := env.Printer(true)
	lines := jsontext.Reader{In: in}
	bad := 0
	jsontext.InOrder(lines.All(), func(l jsontext.Line) any {
		a, id, err := answer(l)
		if err != nil {
			return errorLine{ID: id, Error: fmt.Sprintf("line %d: %v", l.N, err)}
		}
		return a
	}, func(a any) {
		if _, is := a.(errorLine); is {
			bad++
		}
		p.Item(a, nil)
	})
	switch err := p.Flush(); {
	case err != nil:
		return err
	case lines.Err != nil:
		return lines.Err
	case bad > 0:
		return fmt.Errorf("%d of %d lines could not be read", bad, lines.N)
	}
	return nil
}

// errorLine is written in place of an answer.
type errorLine struct {
	Error string          `json:"error"`
	ID    json.RawMessage `json:"id"`
}

// readReply reads a record from the named file or standard input.
func readReply(args []string, env Env) (*replay.Record, error) {
	doc, err := readDocument(args, env)
	if err != nil {
		return nil, err
	}
	return replay.ParseRecord(doc)
}

// maxReply is the maximal size of a reply, in bytes.
const maxReply = 64 << 20

// readDocument reads the named file or standard input.
func readDocument(args []string, env Env) ([]byte, error) {
	in, err := OpenInput(args, env)
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	defer in.Close()
	doc, err := io.ReadAll(io.LimitReader(in, maxReply))
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return bytes.TrimPrefix(doc, []byte("\ufeff")), nil // a byte order mark
}

// FailPipes makes writes to standard output or error fail if the reader is gone; by default they end the
// program. Child processes are not affected.
func FailPipes() (leave func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // children would inherit an ignored signal
	return func() { signal.Stop(pipes) }
}

// Until returns a context that ends at SIGTERM or Ctrl-C; the second one ends the program at once. SIGHUP,
// which a closing terminal often sends twice, counts as SIGTERM but never ends the program at once, and is
// ignored under nohup.
func Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	done := stop
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, done = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop)
	return ctx, done
}

// Writer remembers the first error of To.
type Writer struct {
	To  io.Writer
	Err error
}

func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.To.Write(b)
	if err != nil {
		err = fmt.Errorf("write: %w", err)
		w.Err = cmp.Or(w.Err, err)
	}
	return n, err
}

// Unwrap returns the writer beneath a Writer.
func Unwrap(w io.Writer) io.Writer {
	if t, is := w.(*Writer); is {
		return t.To
	}
	return w
}
