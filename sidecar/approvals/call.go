// Package approvals asks a person about calls that the policy does not let pass by itself. It remembers the
// answer for exactly the call that was asked about, or, as a grant, for the calls with the same reasons, in a
// session or for a while. All of it is in memory, or on a board that replicas share, within bounds, and
// grants are also in a file: a question without an answer is denied. It decides nothing by itself, and runs
// nothing.
package approvals

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

// Call is a call that a person is asked about. All of it is shown to them, and all of
// it but the model, and remarks about a command, is what their answer holds for.
type Call struct {
	Tool string `json:"tool"`
	// the JSON object as it would leave; only its white space does not matter
	Arguments string `json:"arguments"`
	// the arguments that the answer holds for, without remarks; empty: all of them
	Bound    string    `json:"-"`
	Command  string    `json:"command,omitempty"`  // the exact shell text, of a tool that takes one
	Commands []Command `json:"commands,omitempty"` // what runs, as far as it is known
	Cwd      string    `json:"cwd,omitempty"`
	Session  string    `json:"session,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Client   string    `json:"client,omitempty"` // the program of the agent
	Model    string    `json:"model,omitempty"`
	Policy   string    `json:"policy"` // version of the rules that ask
	// whose code would run; of a call that runs here, as a gateway's files are not here
	Files []File `json:"files,omitempty"`
}

// Command is a program with its arguments.
type Command struct {
	Path string   `json:"path,omitempty"` // where its name has a slash
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // names of the variables that are set for it
	Cwd  string   `json:"cwd,omitempty"`
}

// File is a program, or a file with code, by its content.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // empty where it cannot be read
}

// Reason is why a person is asked. It is shown, and the answer does not depend on it.
type Reason struct {
	Rule    string `json:"rule,omitempty"`
	Place   string `json:"place,omitempty"` // of the rule: file:line
	Why     string `json:"why,omitempty"`
	Instead string `json:"instead,omitempty"`
	// bytes of Command, of the part that made it ask; both 0: all of it
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
	// each reason that holds, with what a grant covers; none: there are too many for one
	All []policy.Reason `json:"all,omitempty"`
}

// CommandsOf are the commands of a script.
func CommandsOf(s *shell.Script) []Command {
	if s == nil {
		return nil
	}
	var out []Command
	for _, c := range s.Commands {
		out = append(out, Command{Path: c.Path, Argv: c.Argv, Env: c.Env, Cwd: c.Cwd})
	}
	return out
}

// FilesOf are the files of a script whose code may run, as far as they are named by a path: programs, files
// with code, and what is fed to a command. What these load themselves is not known.
func FilesOf(s *shell.Script, sum func(path string) string) []File {
	if s == nil {
		return nil
	}
	var out []File
	for _, c := range s.Commands {
		for _, name := range []string{c.Path, c.CodeFile, c.Stdin.File} {
			if name != "" && !path.IsAbs(name) {
				name = path.Join(c.Cwd, name)
			}
			if path.IsAbs(name) {
				out = append(out, File{name, sum(name)})
			}
		}
	}
	return out
}

// Exactly is a text that tells a call, with the files that it would run here, from others, in any session
// and under whatever rules.
func (c *Call) Exactly() string {
	only := Call{Tool: c.Tool, Arguments: c.Arguments, Bound: c.Bound, Command: c.Command, Cwd: c.Cwd,
		Files: c.Files}
	sum := only.Binding()
	return hex.EncodeToString(sum[:])
}

// Binding is what an answer holds for: calls with the same one are the same call.
type Binding [sha256.Size]byte

// Binding is the sum over everything in the call but the model and remarks. The exact text is a
// part of it even where all commands are known, because values of variables, pipes
// and redirections stand nowhere else.
func (c *Call) Binding() Binding { return sha256.Sum256(c.encode()) }

// encode writes every text and every list behind its length, so that no two calls
// are written alike.
func (c *Call) encode() []byte {
	b := text(nil, "gpt-oss-executor approval 1")
	for _, s := range []string{c.Tool, compact(cmp.Or(c.Bound, c.Arguments)), c.Command, c.Cwd, c.Session,
		c.Agent, c.Client, c.Policy} {
		b = text(b, s)
	}
	b = number(b, uint64(len(c.Commands)))
	for _, k := range c.Commands {
		b = text(b, k.Path)
		b = texts(b, k.Argv)
		b = texts(b, k.Env)
		b = text(b, k.Cwd)
	}
	b = number(b, uint64(len(c.Files)))
	for _, f := range c.Files {
		b = text(b, f.Path)
		b = text(b, f.SHA256)
	}
	return b
}

func number(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

func text(b []byte, s string) []byte { return append(number(b, uint64(len(s))), s...) }

func texts(b []byte, list []string) []byte {
	b = number(b, uint64(len(list)))
	for _, s := range list {
		b = text(b, s)
	}
	return b
}

// compact is JSON without white space between its parts, and anything else as it is.
func compact(doc string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(doc)) != nil {
		return doc
	}
	return b.String()
}

// size is how many bytes of a call a person would have to read.
func (c *Call) size() int {
	all := *c
	all.Bound = ""
	return len(all.encode())
}
