// Package approvals asks a person about calls that the policy does not let pass. It keeps the answer
// for exactly that call or, as a grant, for calls with the same reasons, in a session or for a while.
// Everything is bounded and in memory, or on a board that replicas share; grants are also in a file. A
// question without an answer is denied. It decides and runs nothing by itself.
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

// Call is a call that a person is asked about. All of it is shown, and the answer is for all of it
// except the model and remarks in a command.
type Call struct {
	Tool string `json:"tool"`
	// Arguments is the JSON object as it would leave; white space does not matter.
	Arguments string `json:"arguments"`
	// Bound are the arguments that the answer is for, without remarks; empty: all.
	Bound    string    `json:"-"`
	Command  string    `json:"command,omitempty"`  // shell text, of a tool that takes one
	Commands []Command `json:"commands,omitempty"` // what runs, as far as known
	Cwd      string    `json:"cwd,omitempty"`
	Session  string    `json:"session,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Client   string    `json:"client,omitempty"` // the program of the agent
	Model    string    `json:"model,omitempty"`
	Policy   string    `json:"policy"` // version of the rules
	// Files are what would run, of a call that runs here: a gateway's files are elsewhere.
	Files []File `json:"files,omitempty"`
}

// Command is a program with its arguments.
type Command struct {
	Path string   `json:"path,omitempty"` // if its name has a slash
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // names of the variables set for it
	Cwd  string   `json:"cwd,omitempty"`
}

// File is a program or a file with code, by its content.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // empty: unreadable
}

// Reason is why a person is asked. It is shown, and the answer does not depend on it.
type Reason struct {
	Rule    string `json:"rule,omitempty"`
	Place   string `json:"place,omitempty"` // of the rule: file:line
	Why     string `json:"why,omitempty"`
	Instead string `json:"instead,omitempty"`
	// Start and End are the bytes of Command that made it ask; both 0: all of it.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
	// All are the reasons with what a grant covers; none: there are too many.
	All []policy.Reason `json:"all,omitempty"`
}

// CommandsOf returns the commands of a script.
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

// FilesOf returns the files of a script whose code may run and that are named by a path: programs,
// files with code, and standard input. What these load is not known.
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

// Exactly returns a text that identifies a call and the files that it would run here, in any session
// and under any rules.
func (c *Call) Exactly() string {
	only := Call{Tool: c.Tool, Arguments: c.Arguments, Bound: c.Bound, Command: c.Command, Cwd: c.Cwd,
		Files: c.Files}
	sum := only.Binding()
	return hex.EncodeToString(sum[:])
}

// Binding identifies the call that an answer is for.
type Binding [sha256.Size]byte

// Binding returns the hash of everything but the model and remarks. It includes the text even if all
// commands are known: values of variables, pipes and redirections are only there.
func (c *Call) Binding() Binding { return sha256.Sum256(c.encode()) }

// encode prefixes every text and list with its length, so that different calls differ.
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

// compact removes white space between the parts of JSON.
func compact(doc string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(doc)) != nil {
		return doc
	}
	return b.String()
}

// size returns how many bytes of a call a person would have to read.
func (c *Call) size() int {
	all := *c
	all.Bound = ""
	return len(all.encode())
}
