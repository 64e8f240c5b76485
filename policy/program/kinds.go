package program

import (
	"maps"
	"slices"
)

// Kinds returns the kinds of values and operands, sorted.
func Kinds() []string { return sortedKeys(kindDocs) }

// Words returns all words of rows, with a sentence for each: kinds, effects, marks, which stand among the
// effects, and kinds of output.
func Words() (kinds, effects, marks, prints map[string]string) {
	return maps.Clone(kindDocs), Tags(), maps.Clone(markDocs), maps.Clone(printDocs)
}

// Tags returns all tags of effects, with a sentence for each.
func Tags() map[string]string { return maps.Clone(tagDocs) }

// Styles returns the ways to write options other than the usual one.
func Styles() []string { return []string{"bundle", "first", "operands", "words"} }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

var printDocs = map[string]string{
	"numbers": "Each word is a number.",
	"names":   "Each line is a name below its folder.",
	"lines":   "It prints lines of its standard input.",
	"word":    "Each word is a name without a slash or a dash in front.",
}

var kindDocs = map[string]string{
	"text":       "Any text. It does not matter what it looks like.",
	"plain":      "A name or a number. If it looks like a URL or like a path outside of the folder, it counts as that; as one known only at run time where the disk has no such folder under /.",
	"read":       "A file that is read, or a folder that is listed.",
	"write":      "A file that is written or made.",
	"delete":     "A file or folder that is deleted.",
	"move":       "A file that is read and deleted.",
	"change":     "A file that is changed in place.",
	"patch-text": "The text of a patch, which names the files that are changed.",
	"target":     "The folder that all operands before it are written to; of two operands perhaps the file.",
	"folder":     "The folder that it works in.",
	"names":      "A file with names of files that are read.",
	"named":      "NAME=FILE, several with commas between. The files are read.",
	"options":    "A file that is read; after an @ one that holds options.",
	"pattern":    "A pattern of the files that are read, as in --include='*.go'.",
	"from":       "A file or URL that is read.",
	"to":         "A file or URL that is written.",
	"backup":     "What is put behind the names of files that are kept, or with a star or a slash a pattern of names: .bak, old/*.",
	"output":     "A file that is written; after a bar a shell line.",
	"url":        "A URL, or a host.",
	"proxy":      "The address of a proxy.",
	"address":    "HOST:PORT:ADDRESS, where ADDRESS is asked in the place of HOST.",
	"repository": "What git fetches from or pushes to: a URL, a host or a folder.",
	"transfer":   "A file here, or one on another machine: HOST:FILE.",
	"upload":     "A file whose text leaves in a request.",
	"sent":       "Text that leaves in a request; after an @ a file.",
	"form":       "The same, perhaps after a name: NAME=@FILE.",
	"header":     "Text that leaves in a request. It counts only if it is known at run time alone, or is a file after an @.",
	"cookie":     "The same, or the name of a file if there is no equals sign.",
	"method":     "The method of a request.",
	"command":    "A program, perhaps with arguments in the same word.",
	"shell":      "A shell line.",
	"run":        "A program. All that follows are its arguments.",
	"rest":       "The value of an option: a program. All that follows are its arguments.",
	"line":       "A shell line, together with all that follows.",
	"variable":   "NAME=VALUE for what it runs.",
	"code":       "Code in the program's own language, unless the row has it as usual.",
	"sed":        "A script of sed.",
	"awk":        "A program of awk.",
	"jq":         "A filter of jq or yq.",
	"sql":        "Statements of SQL; of a row with usual, it asks a database only if they fit.",
	"script":     "A file of code in the program's own language.",
	"main":       "The same, of the workspace: what an interpreter runs.",
	"load":       "A file whose code or settings can run programs.",
	"config":     "The same, of the workspace. Only one from elsewhere counts.",
	"package":    "A package that is installed: a name, a folder or a URL.",
	"module":     "The value of an option: a module of Python. All that follows are its arguments.",
	"mode":       "Rights of a file, as chmod takes them.",
	"revision":   "A commit, or a file of the repository.",
	"goal":       "What maven or gradle is to do.",
	"refspec":    "A branch that is pushed or fetched; after a plus sign by force.",
	"pathspec":   "What git deletes: a file, or a pattern of git's own, such as ':(glob)**' and ':!x'.",
	"setting":    "KEY=VALUE of git -c.",
	"ssh":        "NAME=VALUE of ssh -o.",
	"mount":      "A folder of this machine that a container gets: FOLDER:PLACE.",
	"resource":   "What a cluster keeps.",
	"definition": "NAME=VALUE that may name a program: make CC=gcc, cmake -DCMAKE_C_COMPILER=gcc.",
	"picture":    "A picture, perhaps after its format, as in png:a.",
	"drawn":      "A picture that is written.",
	"compiling":  "Options of Go's compiler. Everyday ones change only what it prints and how it optimizes.",
	"libraries":  "Folders of code that programs load, with colons between.",
	"location":   "A file or folder that is written. A value without a slash is a switch.",
	"arguments":  "Options with blanks between. Files elsewhere that they name are read.",
	"assignment": "if=FILE, of=FILE and others, as dd takes them.",
}

// markDocs are written among the tags, and say more of files and input.
var markDocs = map[string]string{
	"stdin":               "It reads its standard input.",
	"stdin-code":          "It runs code from its standard input, unless it has some in its arguments.",
	"refers":              "Its standard input may name files that it reads: an include, a file of variables.",
	"here":                "It reads the folder that it works in.",
	"changes":             "It changes files of that folder that no argument names.",
	"recursive":           "It works on whole folders.",
	"follows":             "It follows the links in them.",
	"looks":               "Nothing is written, deleted or run: operands are read at most.",
	"edits":               "Operands that are read are changed in place.",
	"leaves":              "Text of this machine leaves in its requests.",
	"sends-stdin":         "Its standard input leaves in its requests.",
	"removes":             "Operands that are read are deleted, too.",
	"clears":              "What the operands do not have is deleted from the target.",
	"posts":               "Its requests are more than questions.",
	"fills-in":            "It puts other texts in the place of names in braces in the shell lines that it runs.",
	"saves":               "What it fetches is saved under its own name.",
	"replaces-first":      "The option stands in for the first operand.",
	"patch":               "What it reads is a patch, and names the files that are changed.",
	"injectable":          "A name that begins with a dash can make it run code or write a file.",
	"downloads":           "What it prints may come from another machine.",
	"decodes":             "What it prints may have been hidden in what it read.",
	"lists":               "It shows what is in a folder that it is given.",
	"keeps-home":          "What it runs has the home folder of the caller.",
	"copies":              "Of two operands, the second becomes a copy of the first.",
	"labels":              "What begins with // in its arguments is a target of the project, and no file.",
	"links":               "It makes links.",
	"compiles":            "What it writes is code that it makes of the files that it reads.",
	"keeps-text":          "It changes no text of the files that it writes.",
	"makes-folders":       "What it writes are folders.",
	"repository-settings": "It takes settings from the repository that it works in, and runs what they name.",
	"prints":              "Whatever its arguments are, it starts only what is written out, and writes no file.",
	"writes-named":        "It writes no files but those that it names, or empty ones.",
	"pair":                "A name stands between the option and its value.",
}

var tagDocs = map[string]string{
	"absolute-extract":  "It unpacks files to where the archive says, even outside of the folder.",
	"account":           "It looks into an account of a cloud.",
	"admin":             "It changes accounts, the kernel, the firewall, the clock or the network of the machine.",
	"brings":            "It brings files of others into the folder: a branch, a patch, an archive.",
	"carrier":           "It runs another program for each file that it finds.",
	"code-variable":     "It sets a variable that loads code, or changes which program a name means.",
	"config-or-install": "It installs software, or changes the settings of a tool.",
	"container":         "It starts, stops or changes containers or what a cluster runs.",
	"container-escape":  "A container gets hold of the machine: privileged, the root folder, the socket of the engine.",
	"device":            "It changes a device that is attached.",
	"discard":           "It throws away work that is not saved elsewhere.",
	"disk":              "It changes disks, partitions, file systems or what is mounted.",
	"dump-env":          "It prints environment variables or credentials.",
	"editor":            "It opens an editor, from which commands can be typed.",
	"find-delete":       "It deletes what it finds.",
	"interactive-shell": "It opens a shell or an interpreter in which commands can be typed.",
	"keys":              "It uses, shows or changes keys of the user.",
	"longrun":           "It goes on until it is stopped, or after the call has answered.",
	"namespace":         "It changes the root folder, the name spaces or the limits of what it runs.",
	"net-override":      "It changes to which address a name leads.",
	"opaque-exec":       "It runs code or programs that do not stand in its arguments: from a configuration, a plug-in, an archive.",
	"pager":             "It shows text in a pager, from which commands can be typed where it has a terminal.",
	"power":             "It stops or restarts the machine.",
	"privilege":         "It runs something as another user.",
	"publish":           "Others can see it: a push, a release, a package.",
	"queries":           "It only asks a database.",
	"raw-socket":        "It opens a connection of its own kind, to or from anywhere.",
	"remote":            "It acts on another machine.",
	"schedule":          "It has something run later.",
	"self-config":       "It changes the gateway or the sidecar itself.",
	"send":              "It sends files or text to another machine or person.",
	"service":           "It starts, stops or changes services of the machine.",
	"setuid":            "It lets a file run with the rights of its owner.",
	"shows-settings":    "It prints the settings of a container, a service or a release, which may hold secrets.",
	"shell-state":       "It changes what later words of the same shell mean.",
	"signal":            "It ends, stops or signals processes.",
	"signal-all":        "It signals all processes, or the first one.",
	"socket-exec":       "It connects a program to the network.",
	"unlisted":          "It runs a program by a name that the table does not have.",
	"unlisted-sub":      "It has a subcommand that the table does not have.",
	"workspace-code":    "It runs code of the workspace: tests, scripts of package.json, a Makefile.",
	"wrapper":           "It only runs another program, perhaps with other rights, limits or variables.",
}
