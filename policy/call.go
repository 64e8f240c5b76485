package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Call is what a condition sees of a call. The tag doc is what operators read about a
// field.
type Call struct {
	Tool       string         `expr:"tool" json:"tool" doc:"The name of the tool that would run."`
	Kind       string         `expr:"kind" json:"kind,omitempty" doc:"The first name of the tool's group in aliases.yaml: exec for bash and run_shell_command. It is the tool's own name if it is in no group."`
	Class      string         `expr:"class" json:"class" doc:"read, write or exec, by the classes of arguments.yaml."`
	Args       map[string]any `expr:"args" json:"-" doc:"The arguments, for example args.path."`
	Command    string         `expr:"command" json:"command,omitempty" doc:"The shell lines of the call: its arguments command, cmd, script, shell_command and code, a line each, then those inside of other arguments. It is empty if there are none."`
	Strategy   string         `expr:"strategy" json:"strategy,omitempty" doc:"The id of the strategy that found the call."`
	Confidence float64        `expr:"confidence" json:"confidence,omitempty" doc:"How sure that strategy is, 0 to 1."`
	Confined   bool           `expr:"confined" json:"confined,omitempty" doc:"true means that the kernel holds the command: it can change only the folders that may be written, read no secrets, and reach the network only through a proxy."`
	Subject

	nested []argument // those of Args, at any depth; nil: there are none, or too many
	over   bool       // there are more than are looked at
	lines  []line     // of Command
}

// Subject is who asks for a call. Without a person who can answer, ask means deny.
type Subject struct {
	Model       string `expr:"model" json:"model,omitempty" doc:"The model id that the caller asked for."`
	Client      string `expr:"client" json:"client,omitempty" doc:"The program that sends the requests, by its file in rules/agents: openclaw, opencode, codex. generic is one that no file describes."`
	Agent       string `expr:"agent" json:"agent,omitempty" doc:"The agent. It is empty if the request does not name it."`
	Session     string `expr:"session" json:"session,omitempty" doc:"The session. It is empty if the request does not name it."`
	Channel     string `expr:"channel" json:"channel,omitempty" doc:"The channel, such as telegram. It is empty if the request does not name it."`
	Run         bool   `expr:"run" json:"run,omitempty" doc:"true means that the call is one of a run of executor mode, so that no gateway and no person sees it first."`
	Interactive bool   `expr:"interactive" json:"interactive,omitempty" doc:"true means that somebody can answer a question."`
}

// From is the call with who asks for it.
func (c Call) From(s Subject) Call {
	c.Subject = s
	return c
}

// CallOf takes the arguments of a call apart, as JSON.parse does: of a key that
// comes twice the last one counts, and a number beyond float64 is infinite. Arguments
// that are not one JSON object are an error, and leave Args empty.
func CallOf(tool, class string, arguments []byte) (Call, error) {
	args, err := object(arguments)
	for _, key := range trimmed {
		if text, ok := args[key].(string); ok && tail.MatchString(text) {
			err = fmt.Errorf("%s ends in markup that the caller takes off", key)
		}
	}
	if err != nil {
		return NewCall(tool, class, map[string]any{}),
			fmt.Errorf("the arguments of %s cannot be judged: %w", tool, err)
	}
	return NewCall(tool, class, args), nil
}

// NewCall is a call with these arguments, which must stay as they are.
func NewCall(tool, class string, args map[string]any) Call {
	c := Call{Tool: tool, Kind: tool, Class: class, Args: args}
	c.nested, c.over = nested(tool, args)
	c.lines = lines(tool, args, c.nested)
	texts := make([]string, len(c.lines))
	for i, l := range c.lines {
		texts[i] = l.text
	}
	c.Command = strings.Join(texts, "\n")
	return c
}

// trimmed are the arguments from whose end OpenClaw takes what tail matches, before it
// runs the call.
var trimmed = []string{"command", "workdir", "host", "ask", "node", "path"}

var tail = regexp.MustCompile(`</arg_value>>+$`)

// errNoObject is why arguments cannot be judged.
var errNoObject = errors.New("they are not one JSON object")

// mostNested is how deep arguments may nest. JSON.parse has no limit, encoding/json this.
const mostNested = 10000

func object(doc []byte) (map[string]any, error) {
	s := jsontext.Scanner{Doc: doc, Depth: mostNested}
	args, ok := value(&s).(map[string]any)
	if !ok || s.End() != nil || !utf8.Valid(doc) {
		return nil, errNoObject
	}
	return args, nil
}

// value reads one JSON value. What is no JSON gives anything, and the scanner an error.
func value(s *jsontext.Scanner) any {
	switch s.Peek() {
	case '{':
		members := map[string]any{}
		for ok := s.Enter('{'); ok && s.Next('}'); {
			key, _ := s.Key()
			members[string(key)] = value(s)
		}
		return members
	case '[':
		list := []any{}
		for ok := s.Enter('['); ok && s.Next(']'); {
			list = append(list, value(s))
		}
		return list
	}
	at := s.Skip()
	if s.Err != nil {
		return nil
	}
	switch raw := at.Of(s.Doc); raw[0] {
	case '"':
		text, _ := jsontext.Text(s.Doc, at)
		return text
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	default:
		f, _ := strconv.ParseFloat(string(raw), 64) // infinite where it is out of range, as in JavaScript
		return f
	}
}

// carrier is the tool with which OpenClaw's Tool Search calls another one:
// {"id": name, "args": {…}}.
const carrier = "tool_call"

// Carried gives the call that another one carries, if it carries one. It reads what
// OpenClaw does: the name is in id, toolId or name, and may stand behind the
// catalog's "source:owner:"; the arguments are in args or input, or, where these are
// missing or empty, beside the name. What can be read in two ways comes without
// arguments, so that it cannot be judged.
func Carried(tool string, arguments []byte) (inner string, args []byte, ok bool) {
	if tool != carrier {
		return "", nil, false
	}
	return carried(arguments)
}

func carried(arguments []byte) (inner string, args []byte, ok bool) {
	var in map[string]json.RawMessage // a struct would also take ID and ARGS
	if json.Unmarshal(arguments, &in) != nil {
		return "", nil, false
	}
	names := given(in, "id", "toolId", "name")
	if len(names) == 0 {
		return "", nil, false
	}
	_ = json.Unmarshal(in[names[0]], &inner)
	inner = strings.TrimSpace(inner[strings.LastIndexByte(inner, ':')+1:])
	for key := range in {
		if strings.HasPrefix(key, "args.") {
			return inner, nil, true
		}
	}
	if nested := given(in, "args", "input"); len(nested) > 0 {
		args = in[nested[0]]
		var text string
		if json.Unmarshal(args, &text) == nil { // encoded twice
			args = []byte(text)
		}
		if empty, err := object(args); err != nil || len(empty) > 0 {
			return inner, args, true
		}
	}
	if len(names) > 1 {
		return inner, nil, true
	}
	for _, key := range []string{names[0], "args", "input"} {
		delete(in, key)
	}
	args, _ = json.Marshal(in)
	return inner, args, true
}

// given are those of the keys that have a value.
func given(in map[string]json.RawMessage, keys ...string) []string {
	var out []string
	for _, key := range keys {
		if v := in[key]; v != nil && string(v) != "null" {
			out = append(out, key)
		}
	}
	return out
}
