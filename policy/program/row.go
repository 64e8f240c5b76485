package program

// family is a part of the table: what the programs of one field do. The key holds the
// names of the programs, with spaces between, that share a row. A new program goes into
// the family that fits, with a few lines in testdata.
type family map[string]row

// row says what a program does with its arguments. The zero row is a program that does
// nothing with them: echo, true.
type row struct {
	// opts lists the options, with spaces between:
	//
	//	-[abc]                 flags of one letter, or with tags: -[abc]:looks
	//	-q|--quiet             a flag, with all its spellings; the first one is its name
	//	-k|--key=              an option with a value that does not matter
	//	-o|--output=write      one whose value is a file to be written; see kind
	//	--color?               one whose value is optional, and glued to it
	//	--rawfile+read         one with a name and a value, in two words
	//	-P:absolute-extract    a tag of the effect, or a mark; several have commas between
	//	-e|--regexp=!          it stands in for the first operand
	//	+=                     what follows a plus sign
	opts string
	// operands lists what the arguments that are no options are, as kinds, with tags as
	// options have them. A star repeats: "skip read*", "read* write", "skip:admin".
	operands string
	tags     string
	bare     string // tags and marks without any operand; not where only help is asked for
	subs     []sub
	style    style
	// open: options that are not listed are harmless. Otherwise they make the effect
	// unsure, where any of the listed ones does more than choose what is printed.
	open bool
	// own: its options stand before a subcommand, and not after it.
	own bool
	// stdin is the number of operands from which on it leaves its standard input alone.
	stdin int
	// shell: without a program to run it starts a shell.
	shell bool
	// versioned: a version may follow the name: python3.11.
	versioned bool
	// then is called at last, for what a row cannot say; that of a program for its
	// subcommands, too.
	then func(*call)
}

// sub is a row for subcommands. Names are separated by spaces; other spellings of the
// same one follow a bar: "install|i|add". A star at the end stands for any ending; the
// first such name that fits counts. A name of two words is a row below a row.
type sub struct {
	names string
	row
}

// always is a row.stdin: the standard input is read whatever the operands are.
const always = 1 << 10

// markNames stand among the tags of options, operands and bare. A tag or mark after an
// exclamation mark is taken away from the row.
//
//	code       it runs code from its standard input, unless it has some in its arguments
//	recursive  it works on whole folders
//	follows    on what links in them lead to, too
//	changes    it changes files of its folder that no argument names
//	stdin      it reads its standard input
//	looks      nothing is written, deleted or run: operands are read at most
//	edits      operands that are read are changed in place
var markNames = []string{"code", "recursive", "follows", "changes", "stdin", "looks", "edits"}

// style is how a program reads its options.
type style uint8

const (
	gnu    style = iota // -abc, -ofile, --long=value, abbreviated; after operands, too
	stop                // the same, but options end at the first operand
	words               // -name value, -name=value, --name=value: go, openssl, terraform
	bundle              // as gnu, and the first word may do without a dash: tar xf a.tar
)

// kind is what an operand or the value of an option is.
type kind uint8

const (
	skip      kind = iota // does not matter
	read                  // a file, or a folder to list
	write                 // a file that is written or made
	remove                // a file or folder that is deleted
	move                  // read and deleted
	change                // read and written in place
	target                // the folder that all operands are written to
	dir                   // the folder it works in
	list                  // a file that holds names of files to read
	args                  // a file that is read, or after an @ one that holds options
	url                   // a URL
	repo                  // what git fetches from or pushes to: a URL, a host, a folder
	sh                    // a shell line
	exec                  // a program, perhaps with arguments in the same word
	run                   // a program, and all that follows are its arguments
	line                  // a shell line, together with all that follows
	load                  // a file whose code or configuration can run programs
	conf                  // the same, of the workspace: only one from elsewhere is told of
	inline                // code in the program's own language
	script                // a file of code in the program's own language
	main                  // the same, of the workspace: what an interpreter runs
	setenv                // NAME=value for what it runs
	sshOption             // Name=value of ssh
	out                   // a file that is written, or after a bar a shell line
	from                  // a file that is read, or a URL
	data                  // text that is sent, or after an @ a file
	form                  // the same, perhaps after a name: name=@file, name=<file, name@file
	header                // the same as data; what is only known at run time leaves this machine
	to                    // a file that is written, or a URL
	tail                  // a program, and all arguments that follow are its own
)

var kinds = map[string]kind{
	"": skip, "skip": skip, "read": read, "write": write, "delete": remove, "move": move, "change": change, "target": target, "dir": dir,
	"list": list, "args": args, "url": url, "repo": repo, "sh": sh, "exec": exec, "run": run, "line": line, "load": load, "conf": conf, "inline": inline, "script": script, "main": main, "env": setenv, "ssh": sshOption, "out": out, "from": from, "data": data, "form": form, "header": header, "to": to, "rest": tail,
}
