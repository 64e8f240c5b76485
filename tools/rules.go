package tools

// Rules are what operators wrote about names and arguments of tools. They are plain data, read from YAML
// elsewhere and immutable. Every entry has the place (file:line) for Repair.Rule. The zero Rules apply
// only Harmony and the offered schemas.
type Rules struct {
	Prefixes []Word       // removed from the front of a name: "functions.", "default_api."
	Glued    []Word       // words that servers glue to a name: "json", "code", "commentary"
	Pseudo   []Word       // names that mean the answer: "json", "response"
	Groups   []Group      // names of tools of one kind
	Params   []ParamAlias // other names of parameters
	Texts    []TextParam  // parameters that take plain text as arguments
	Kinds    []KindRule   // kinds of text of parameters
	Remarks  []string     // parameters of commands that only explain them
	Classes  Classes      // the meaning of words in names
	Floors   Classes      // locked minimum classes by words in names
	MaxDepth int          // of nesting of arguments; 0 is 256
}

// OfClass before a class names every tool of it: *exec.
const OfClass = "*"

// Word is one word of a list, with its place.
type Word struct {
	Text  string
	Place string
}

// Group is the names of one kind of tool, such as a shell: exec, bash, run_command. Each means the first
// offered tool of the group. Rules for its first name apply to all. A weak name counts only if no tool
// of its groups is offered, as search for a search of the web.
type Group struct{ Names, Weak []Word }

// ParamAlias lists interchangeable names of one parameter: the tool's schema decides which leaves.
type ParamAlias struct {
	Tool  string // a tool, the first name of a group, or OfClass and a class; "": every tool
	Param string
	From  []string
	Place string
}

// TextParam lists parameters whose value is a text of its own, such as code or a patch. Arguments that
// are no JSON become that value; for other parameters of tools that write or execute they are refused.
type TextParam struct {
	Tool   string // a tool, the first name of a group, or OfClass and a class; "": every tool
	Params []string
	Place  string
}

// KindRule is the kind of text of a parameter, to tell a value from a remark.
type KindRule struct {
	Tool  string // a tool, the first name of a group, or OfClass and a class; "": every tool
	Param string
	Kind  TextKind
	Place string
}

// ClassRule gives a class to tools with one of the words in their name: "get" matches get_time and
// getTime, "del*" matches del and delete. "(order)" counts only if no other word does. "run+" acts on
// what the other words name: with a word of Agent it writes. A word with "_" is a whole name, and
// stronger than any word.
type ClassRule struct {
	Class Class
	Words []string
}
