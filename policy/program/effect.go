// Package program knows what a program does with its arguments: which files it reads, writes and deletes,
// what it fetches, and which other programs or code it runs. It is data, a row for each program, and pure: it
// never runs anything, and does not know the folder, the variables or the standard input of a call.
package program

import "slices"

// Touch is a file that the program uses.
type Touch struct {
	Op    string // read, write or delete, as in package paths
	Word  Word
	Via   string // "argument", "-o", "sed -i" …
	Guess bool   // it only looks like a file; it may be a route or a label
}

// Fetch is a URL, or what becomes one, that the program uses.
type Fetch struct {
	Word   Word // without a scheme if the program adds http://
	Method string
}

// Run is something else that the program runs. Either Argv or Code is set.
type Run struct {
	Via  string // "sudo", "find -exec", "git -c core.pager"
	Argv []Word // a program with its arguments
	Code Word   // a shell line

	Wrapper   string   // name of the program if it only wraps this one: sudo, env, timeout
	Dir       *Word    // the folder it runs in; nil: unchanged
	Env       []string // names of variables set for it
	KeepStdin bool     // it reads the standard input of the program
	NewShell  bool     // functions and variables of the caller are not visible
	Lines     bool     // once for each line of standard input, as with xargs
	Replace   string   // with Lines: the text that the line replaces; empty: it is appended
	NulLines  bool     // with Lines: entries end with NUL
	WholeLine bool     // with Lines: a line with its blanks and quotes is one entry: xargs -d '\n'
	Groups    bool     // with Lines: a few entries at a time: xargs -n
	Shell     bool     // Code comes from standard input: at, ssh without a command
}

// Effect is everything that a program does with one list of arguments.
type Effect struct {
	Known    bool     // the table has a row for the program
	Sub      string   // subcommand: push of git push
	Flags    []string // one by one: -r, -f, --force; abbreviations in full
	Operands []Word   // arguments other than options
	Touches  []Touch
	Fetches  []Fetch
	Runs     []Run
	// a program with its arguments, run only if it is in node_modules/.bin: npx
	Installs []Word
	Tags     []string // effects on the world: power, disk, admin, privilege, publish …
	Marks    []string // other words of its row

	Inline    bool     // it runs code in its arguments: python -c
	CodeFile  Word     // the file whose code it runs: python x.py
	ReadsCode bool     // it runs code from standard input: python without arguments
	ReadsIn   bool     // it reads standard input
	Refers    bool     // standard input may name files that it reads
	SendsIn   bool     // standard input leaves in its requests
	ExecFlags []string // options that run a program or load code
	Folder    *Word    // the folder it works in, by an option such as make -C; nil: unchanged
	Spoils    []Word   // names that may each be a branch, or a file whose changes are lost
	Patch     bool     // it reads a patch
	Patches   []Word   // patches in its arguments
	Changes   bool     // it changes files of its folder that no argument names: git pull
	Recursive bool
	Follows   bool     // links in the folders that it reads are followed
	Odd       []string // names of variables with more than a plain word
	Unsure    []string // what the arguments do not tell: "dynamic option" …
}

// Is reports whether the row has a mark for which there is no field.
func (e *Effect) Is(mark string) bool { return slices.Contains(e.Marks, mark) }
