// Package paths classifies paths: inside the folders that an agent may use, a secret, a device and so on.
// Commands and file tools share this guard. It is pure: it looks at links and at names in folders through an
// interface, and never opens, reads or changes a file.
package paths

import (
	"slices"
	"strings"
)

// Op is what happens to a path. Listing a folder reads it; creating a link writes it.
type Op string

// The operations. Listing a folder reads it; a link made is written.
const (
	Read   Op = "read"
	Write  Op = "write"
	Delete Op = "delete"
	Run    Op = "run" // a program is started by its path
)

// Roots are the folders of an agent, absolute and clean. They nest: the innermost folder around a path
// counts, even inside a place of a special class, such as ~/.openclaw/workspace.
type Roots struct {
	Cwd       string   `json:"cwd"`        // base of relative paths
	Home      string   `json:"home"`       // of the agent's user
	Write     []string `json:"write"`      // the workspace first
	Read      []string `json:"read"`       // in addition to Write
	ReadFiles []string `json:"read_files"` // single files that may be read
	Look      []string `json:"look"`       // readable unless private: class around
	Homes     bool     `json:"-"`          // home folders of others have class foreign, not outside
	Own       []string `json:"own"`        // the guard's own files and folders: class control
	Secret    []string `json:"secret"`     // the secrets among Own: class secret
}

// Workspace is where the agent works: the first folder that it may write. Relative paths may start elsewhere,
// if the operator has set another workspace than the gateway's.
func (r Roots) Workspace() string {
	if len(r.Write) == 0 {
		return r.Cwd
	}
	return r.Write[0]
}

// Of returns the folders of an agent that runs as another user, with this home folder. The guard's own files
// in its own user's home folder stay.
func (r Roots) Of(home string) Roots {
	own, secret := r.Own, r.Secret
	for _, list := range []*[]string{&r.Write, &r.Read, &r.ReadFiles, &r.Look, &r.Own, &r.Secret} {
		moved := slices.Clone(*list)
		for i, folder := range moved {
			if rest, in := strings.CutPrefix(folder, r.Home); in && (rest == "" || rest[0] == '/') {
				moved[i] = home + rest
			}
		}
		*list = moved
	}
	r.Own, r.Secret, r.Home = slices.Concat(own, r.Own), slices.Concat(secret, r.Secret), home
	return r
}

// The classes of paths; a path has exactly one. Some beat their folder: a secret inside the workspace is a
// secret. Persist, Automation and VCS apply only to changes: a file that is read has the class of its place.
const (
	Workspace       = "workspace"        // inside a folder of Roots.Write
	WorkspaceRoot   = "workspace_root"   // that folder itself
	WorkspaceSecret = "workspace_secret" // a secret inside such a folder: .env, a key
	// what tools run by themselves there: CI, editor tasks, .envrc, .npmrc
	Automation = "automation"
	Readable   = "readable" // inside a folder of Roots.Read, or one of Roots.ReadFiles
	Secret     = "secret"   // keys, tokens, password files, histories of shells, and Roots.Secret
	Around     = "around"   // inside a folder of Roots.Look, if it is read
	Foreign    = "foreign"  // in the home folder of another user
	// what runs later by itself: start-up files of shells, cron, git hooks
	Persist     = "persist"
	Control     = "control"   // the gateway's and the sidecar's own files
	VCS         = "vcs"       // the .git folder itself, and what git keeps in it
	Home        = "home"      // the home folder itself
	Root        = "root"      // /
	Protected   = "protected" // a top folder of the system, or one that holds a root
	System      = "system"    // a program or library folder of the system
	Kernel      = "kernel"    // /proc, /sys
	BlockDevice = "blockdev"  // a disk
	Device      = "device"    // another device
	Null        = "null"      // /dev/null and its like, the standard streams
	Socket      = "socket"    // /dev/tcp/…, a socket file
	Dynamic     = "dynamic"   // only known at run time: which file, or whether it is one
	Malformed   = "malformed" // refused rather than interpreted: NUL, ~user, too long …
	Outside     = "outside"   // anything else
)

// Marks say what is odd about a path, whatever its class. Each deserves a question.
const (
	MarkControl   = "control characters"
	MarkInvisible = "invisible characters"
	MarkConfused  = "characters that look like dots or slashes"
	MarkBackslash = "backslash"
	MarkBraces    = "braces"
	MarkPattern   = "pattern"        // ** in a path that is taken literally
	MarkLookAlike = "look-alike"     // another spelling of a special name, such as git~1
	MarkHardLink  = "hard link"      // the file has a second name, which may be anywhere
	MarkOverwrite = "overwrite"      // a secret of the workspace that is already there
	MarkUnseen    = "cannot be seen" // a part of it could not be examined
	// reading the whole folder reads secrets, or more than can be examined
	MarkBelow = "secrets below"
)

// ViaTool is the Via of a path that a file tool was given.
const ViaTool = "tool"

// Use is one path that a call would touch. The tag doc documents a field for operators.
type Use struct {
	Op       string   `expr:"op" json:"op" doc:"What happens to it: read, write or delete."`
	Path     string   `expr:"path" json:"path" doc:"The path as it would reach the program, with variables filled in as far as they are known."`
	Resolved string   `expr:"resolved" json:"resolved,omitempty" doc:"The absolute path behind it, without .. and links; empty where it is not known."`
	Class    string   `expr:"class" json:"class" doc:"What kind of place it is, see the list of classes."`
	Dynamic  bool     `expr:"dynamic" json:"dynamic,omitempty" doc:"A part of it is only known at run time."`
	Glob     bool     `expr:"glob" json:"glob,omitempty" doc:"It holds a pattern such as *.go."`
	Via      string   `expr:"via" json:"via,omitempty" doc:"How it came to be used: argument, redirect, an option such as sed -i; tool for the path of a file tool."`
	Marks    []string `expr:"marks" json:"marks,omitempty" doc:"What is odd about it: hard link, invisible characters, braces and so on."`
}

// Below returns the use of everything in a folder, for rules about its content.
func (u Use) Below() Use {
	u.Path, u.Glob = u.Path+"/*", true
	if u.Resolved != "" {
		u.Resolved = strings.TrimSuffix(u.Resolved, "/") + "/*"
	}
	return u
}
