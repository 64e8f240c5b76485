package program

import "maps"

// Tags are all tags that an effect can have, with what they mean, in one sentence each.
func Tags() map[string]string { return maps.Clone(tagDocs) }

var tagDocs = map[string]string{
	"absolute-extract":  "It unpacks files to where the archive says, even outside of the folder.",
	"admin":             "It changes accounts, the kernel, the firewall, the clock or the network of the machine.",
	"carrier":           "It runs another program for each file that it finds.",
	"code-variable":     "It sets a variable that loads code, or changes which program a name means.",
	"config-or-install": "It installs software, or changes the settings of a tool.",
	"container":         "It starts, stops or changes containers or what a cluster runs.",
	"container-escape":  "A container gets hold of the machine: privileged, the root folder, the socket of the engine.",
	"discard":           "It throws away work that is not saved elsewhere.",
	"disk":              "It changes disks, partitions, file systems or what is mounted.",
	"dump-env":          "It prints environment variables or credentials.",
	"editor":            "It opens an editor, from which commands can be typed.",
	"find-delete":       "It deletes what it finds.",
	"interactive-shell": "It opens a shell or an interpreter in which commands can be typed.",
	"longrun":           "It goes on until it is stopped, or after the call has answered.",
	"namespace":         "It changes the root folder, the name spaces or the limits of what it runs.",
	"net-override":      "It changes to which address a name leads.",
	"opaque-exec":       "It runs code or programs that do not stand in its arguments: from a configuration, a plug-in, an archive.",
	"pager":             "It shows text in a pager, from which commands can be typed where it has a terminal.",
	"power":             "It stops or restarts the machine.",
	"privilege":         "It runs something as another user.",
	"publish":           "Others can see it: a push, a release, a package.",
	"raw-socket":        "It opens a connection of its own kind, to or from anywhere.",
	"remote":            "It acts on another machine.",
	"schedule":          "It has something run later.",
	"self-config":       "It changes the gateway or the sidecar itself.",
	"send":              "It sends files or text to another machine or person.",
	"service":           "It starts, stops or changes services of the machine.",
	"setuid":            "It lets a file run with the rights of its owner.",
	"shell-state":       "It changes what later words of the same shell mean.",
	"signal":            "It ends, stops or signals processes.",
	"signal-all":        "It signals all processes, or the first one.",
	"socket-exec":       "It connects a program to the network.",
	"unlisted":          "It runs a program by a name that the table does not have.",
	"unlisted-sub":      "It has a subcommand that the table does not have.",
	"workspace-code":    "It runs code of the workspace: tests, scripts of package.json, a Makefile.",
	"wrapper":           "It only runs another program, perhaps with other rights, limits or variables.",
}
