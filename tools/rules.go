package tools

// Rules is what operators wrote about the names and arguments of tools. It is
// plain data, made from YAML elsewhere and never changed afterwards. Every entry
// carries the place (file:line) that Repair.Rule names. The zero Rules is usable:
// nothing but what Harmony itself and the offered schemas say.
type Rules struct {
	Prefixes []Word       // dropped from the front of a name: "functions.", "default_api."
	Glued    []Word       // words that servers glue to the end of a name: "json", "code", "commentary"
	Pseudo   []Word       // names that mean "here is my answer": "json", "response"
	Groups   []Group      // names of the same kind of tool
	Params   []ParamAlias // other names of a parameter
	Texts    []TextParam  // parameters that take arguments which are plain text
	Kinds    []KindRule   // what the text of a parameter is
	Remarks  []string     // parameters of tools that run a command, which only say what it is for
	Classes  Classes      // what the words of a name say about what the tool does
	Floors   Classes      // locked: names with these words have this class, or a more harmful one
	MaxDepth int          // deepest nesting of arguments; 0 means 256
}

// OfClass in front of a class names every tool of it: *exec.
const OfClass = "*"

// Word is one word of a list, and where it stands.
type Word struct {
	Text  string
	Place string
}

// Group is the names of one kind of tool, such as a shell: exec, bash, run_command. Each of
// them means the first tool of the group that is offered. The first name is that of the group:
// a rule for it is about every tool of the group. A weak name counts only where no tool is offered
// of the groups of which it is a name, as search for a search of the web.
type Group struct{ Names, Weak []Word }

// ParamAlias lists the names that models use for one parameter. They are
// interchangeable: the tool's own schema says which of them leaves.
type ParamAlias struct {
	Tool  string // the tool, the first name of its group, or OfClass and its class; "" is every tool
	Param string
	From  []string
	Place string
}

// TextParam lists parameters of a tool whose value is a text of its own, such as code or
// a patch. Arguments that are no JSON are the value of such a parameter; for all other
// parameters of tools that write or execute, they are refused.
type TextParam struct {
	Tool   string // the tool, the first name of its group, or OfClass and its class; "" is every tool
	Params []string
	Place  string
}

// KindRule says what the text of a parameter is, so that text in place of arguments can be
// told from a remark.
type KindRule struct {
	Tool  string // the tool, the first name of its group, or OfClass and its class; "" is every tool
	Param string
	Kind  TextKind
	Place string
}

// ClassRule gives the class of tools whose name holds one of the words: "get"
// matches the word get in get_time and getTime, "del*" matches del and delete.
// "(order)" counts only where no other word says anything. "run+" acts on what the other words name:
// with a word of Agent it writes. A word with "_" is a whole
// name, and stronger than any single word.
type ClassRule struct {
	Class Class
	Words []string
}
