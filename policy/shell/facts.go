// Package shell finds out what a line of shell can do: each program that it can run, with its arguments,
// the files and URLs it uses, its standard input, and what is only known at run time. It reads the text as
// bash does; where the parser and bash are known to differ, the text counts as one that cannot be checked.
// It never runs, opens or fetches anything.
package shell

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Script is what a text can do. The tag doc documents a field for operators.
type Script struct {
	Parsed     bool      `expr:"parsed" json:"parsed" doc:"Bash could take it apart. If not, it would still run the complete lines before the mistake."`
	Error      string    `expr:"error" json:"error,omitempty" doc:"Why it was not parsed, with line and column."`
	Control    bool      `expr:"control" json:"control,omitempty" doc:"It holds control characters, which can hide what it does."`
	Invisible  bool      `expr:"invisible" json:"invisible,omitempty" doc:"It holds invisible characters or such that turn the direction of text."`
	ForkBomb   bool      `expr:"fork_bomb" json:"fork_bomb,omitempty" doc:"A function starts itself over and over."`
	OverBudget bool      `expr:"over_budget" json:"over_budget,omitempty" doc:"It is too large, too deep or too much work to be taken apart, or has parts that are not followed: an array that changes, a text that is evaluated twice, a word over two lines."`
	Dynamic    []string  `expr:"dynamic" json:"dynamic,omitempty" doc:"Reasons why a part of what runs is only known at run time."`
	Variables  []string  `expr:"variables" json:"variables,omitempty" doc:"The names of variables that it takes from its environment: LANG of echo $LANG."`
	Binaries   []string  `expr:"binaries" json:"binaries" doc:"The names of all programs that can run, each once."`
	Commands   []Command `expr:"-" json:"commands"`
}

// Command is one program that can run. Binary is empty for an assignment or a redirection alone.
type Command struct {
	Binary      string      `expr:"binary" json:"binary" doc:"The name of the program, without its folder, after wrappers such as sudo are taken off; empty for a redirection or an assignment alone."`
	Path        string      `expr:"path" json:"path,omitempty" doc:"Its path, where the name has a slash."`
	PathClass   string      `expr:"path_class" json:"path_class,omitempty" doc:"The class of that path; empty where the name has no slash."`
	Argv        []string    `expr:"argv" json:"argv" doc:"The words, with quotes, variables and substitutions resolved as far as they are known; the name first."`
	Operands    []string    `expr:"operands" json:"operands,omitempty" doc:"The arguments that are no options."`
	Flags       []string    `expr:"flags" json:"flags,omitempty" doc:"The options one by one: -rf is -r and -f; abbreviations are written in full where the program is known."`
	Sub         string      `expr:"sub" json:"sub,omitempty" doc:"The subcommand of git, docker, npm, go and their like: push of git push."`
	Env         []string    `expr:"env" json:"env,omitempty" doc:"Names of variables that are set for it."`
	OddEnv      []string    `expr:"odd_env" json:"odd_env,omitempty" doc:"Those of them that no rule names, with a value that may be a path or an address, or that a shell may evaluate."`
	Wrappers    []string    `expr:"wrappers" json:"wrappers,omitempty" doc:"Programs that run it: sudo, env, timeout, xargs."`
	Via         string      `expr:"via" json:"via,omitempty" doc:"How it comes to run: sh -c, xargs, find -exec, $(), function NAME, trap; empty: it stands in the line."`
	Depth       int         `expr:"depth" json:"depth,omitempty" doc:"How many shells, substitutions and wrappers it is inside of."`
	Cwd         string      `expr:"cwd" json:"cwd,omitempty" doc:"The folder it runs in; empty where that is not known."`
	DynamicName bool        `expr:"dynamic_name" json:"dynamic_name,omitempty" doc:"Which program it is is only known at run time."`
	DynamicArgs bool        `expr:"dynamic_args" json:"dynamic_args,omitempty" doc:"A part of an argument is only known at run time."`
	Known       bool        `expr:"known" json:"known" doc:"The policy knows what this program does with its arguments. One that it does not know is never allowed by its name."`
	Inline      bool        `expr:"inline_code" json:"inline_code,omitempty" doc:"It runs code that stands in its arguments or comes on its standard input: python -c, awk with system()."`
	CodeFile    string      `expr:"code_file" json:"code_file,omitempty" doc:"The file whose code it runs: x.py of python x.py."`
	ExecFlags   []string    `expr:"exec_flags" json:"exec_flags,omitempty" doc:"Options with which it runs another program or loads code: -c core.pager of git."`
	Tags        []string    `expr:"tags" json:"tags,omitempty" doc:"What it does to the world: power, disk, admin, privilege, publish, remote, install, discard and so on."`
	Reads       []paths.Use `expr:"reads" json:"reads,omitempty" doc:"Paths that it reads."`
	Writes      []paths.Use `expr:"writes" json:"writes,omitempty" doc:"Paths that it writes."`
	Deletes     []paths.Use `expr:"deletes" json:"deletes,omitempty" doc:"Paths that it deletes."`
	URLs        []urls.Use  `expr:"urls" json:"urls,omitempty" doc:"URLs that it fetches or sends to."`
	Stdin       Stdin       `expr:"stdin" json:"stdin,omitzero" doc:"Where its standard input comes from."`
	Background  bool        `expr:"background" json:"background,omitempty" doc:"It goes on after the call has answered: &, nohup, setsid."`
	Recursive   bool        `expr:"recursive" json:"recursive,omitempty" doc:"It works on whole folders."`
	Start       int         `expr:"-" json:"start"` // bytes of the text that makes it run
	End         int         `expr:"-" json:"end"`
}

// Is reports whether a command is a program, or a subcommand of one: git, git fetch, kubectl get.
func (c *Command) Is(name string) bool {
	return strings.HasPrefix(c.Binary+" "+c.Sub+" ", name+" ")
}

// Tags returns the tags that this package adds to those of programs.
func Tags() []string {
	return strings.Fields(`bulk-delete decoded-code downloaded-code dump-env foreign-code function hash-poison interactive-shell lookup
		reads-fetched runs-created-file shell-c shell-state shell-stdin workspace-program wrapper`)
}

func (c *Command) tag(tags ...string) { c.Tags = append(c.Tags, tags...) }

// Stdin is where a command reads from.
type Stdin struct {
	Kind  string   `expr:"kind" json:"kind,omitempty" doc:"text, heredoc, pipe, file; empty where nothing is said."`
	Known bool     `expr:"known" json:"known,omitempty" doc:"Its text is known."`
	Text  string   `expr:"text" json:"text,omitempty" doc:"The text, as far as it is known."`
	From  []string `expr:"from" json:"from,omitempty" doc:"The programs that wrote it: curl, base64."`
	File  string   `expr:"file" json:"file,omitempty" doc:"The file, where it is one."`
}

// World is where a script would run.
type World struct {
	Guard    paths.Guard
	Programs *program.Table    // nil: no program is known
	Env      map[string]string // added to the variables of the process
	Limits   Limits
}

// Limits bound the work for one script. The zero Limits means DefaultLimits.
type Limits struct {
	Bytes      int
	Statements int // parsed, in all texts
	Depth      int
	Commands   int // run, with loops unrolled
	Steps      int
}

// DefaultLimits are far above what people write, and far below what takes noticeable time.
var DefaultLimits = Limits{Bytes: 128 << 10, Statements: 200, Depth: 12, Commands: 800, Steps: 4000}
