// Package program says what a program does with its arguments: which files it reads,
// writes and deletes, what it fetches, and which other programs or code it runs. It is
// data, a row for each program, and pure; it never runs anything, and knows nothing of
// where it would run: no folder, no variable, no standard input.
package program

import "slices"

// Touch is a file that the program uses.
type Touch struct {
	Op    string // read, write, delete: as in package paths
	Word  Word
	Via   string // "argument", "-o", "sed -i" …
	Guess bool   // it only looks like a file, and may be a route or a label
}

// Fetch is a URL, or what becomes one, that the program uses.
type Fetch struct {
	Word   Word // without a scheme where the program adds http://
	Method string
}

// Run is something else that the program runs. Either Argv or Code is set.
type Run struct {
	Via  string // "sudo", "find -exec", "git -c core.pager"
	Argv []Word // a program with its arguments
	Code Word   // a shell line

	Wrapper   string   // its name, where the program is only a wrapper around this: sudo, env, timeout
	Dir       *Word    // the folder it runs in; nil: the same
	Env       []string // names of variables set for it
	KeepStdin bool     // it reads the standard input of the program
	NewShell  bool     // functions and variables of the caller are not seen
	Lines     bool     // it runs once for each line of the standard input, appended: xargs
	Replace   string   // with Lines: the text that the line replaces; empty: it is appended
	NulLines  bool     // with Lines: entries end with NUL
	WholeLine bool     // with Lines: a line is one entry, blanks and quotes are part of it: xargs -d '\n'
	Groups    bool     // with Lines: it runs for a few entries at a time: xargs -n
	Shell     bool     // Code comes from the standard input: at, ssh without a command
}

// Effect is all that a program does with one list of arguments.
type Effect struct {
	Known    bool     // the table has a row for the program
	Sub      string   // its subcommand: push of git push
	Flags    []string // options as written out one by one: -r, -f, --force; abbreviations written in full
	Operands []Word   // arguments that are no options
	Touches  []Touch
	Fetches  []Fetch
	Runs     []Run
	// a program with its arguments, which is only run where it stands in node_modules/.bin: npx
	Installs []Word
	Tags     []string // what it does to the world: power, disk, admin, privilege, publish …
	Marks    []string // what else its row says of it

	Inline    bool     // it runs code that stands in its arguments: python -c
	CodeFile  Word     // the file whose code it runs: python x.py
	ReadsCode bool     // it runs code from its standard input: python, without arguments
	ReadsIn   bool     // it reads its standard input
	Refers    bool     // what it reads there may name files that it reads
	SendsIn   bool     // what it reads there leaves in its requests
	ExecFlags []string // options that run a program or load code
	Folder    *Word    // the folder it works in, by an option such as make -C; nil: the same
	Spoils    []Word   // names of which each may be a branch, or a file whose changes are lost
	Patch     bool     // what it reads is a patch
	Patches   []Word   // patches that stand in its arguments
	Changes   bool     // it changes files of that folder that its arguments do not name: git pull
	Recursive bool
	Follows   bool     // links in the folders that it reads are followed
	Odd       []string // names of variables that are set to more than a plain word
	Unsure    []string // what could not be told from the arguments: "dynamic option" …
}

// Is tells whether the row has a mark that no field stands for.
func (e *Effect) Is(mark string) bool { return slices.Contains(e.Marks, mark) }
