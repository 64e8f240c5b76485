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

// Call is what a condition sees of a call. The tag doc documents a field for operators.
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

	all     []argument // of Args, at any depth; nil: none, or too many
	tooMany bool       // there are more arguments than are examined
	lines   []line     // of Command
}

// Subject is who asks for a call. Without a person who can answer, ask means deny.
type Subject struct {
	Model       string `expr:"model" json:"model,omitempty" doc:"The model id that the caller asked for."`
	Client      string `expr:"client" json:"client,omitempty" doc:"The program that sends the requests, by its file in rules/agents: openclaw, opencode, codex. generic is one that no file describes."`
	Agent       string `expr:"agent" json:"agent,omitempty" doc:"The agent. It is empty if the request does not name it."`
	Session     string `expr:"session" json:"session,omitempty" doc:"The session. It is empty if the request does not name it."`
	Channel     string `expr:"channel" json:"channel,omitempty" doc:"The channel, such as telegram. It is empty if the request does not name it."`
	Run         bool   `expr:"run" json:"run,omitempty" doc:"true means that the call is one of a run of executor mode, so that no gateway and no person sees it first."`
	Interactive bool   `expr:"interactive" json:"interactive,omitempty" doc:"true means that a person can answer a question."`
}

// From returns the call as asked for by s.
func (c Call) From(s Subject) Call {
	c.Subject = s
	return c
}

// CallOf parses the arguments of a call as JSON.parse does: the last of duplicate keys counts, and a number
// beyond float64 is infinite. If the arguments are not one JSON object, it returns an error and a call
// without arguments.
func CallOf(tool, class string, arguments []byte) (Call, error) {
	args, err := parseObject(arguments)
	for _, key := range markupArguments {
		if text, ok := args[key].(string); ok && markupTail.MatchString(text) {
			err = fmt.Errorf("%s ends in markup that the caller takes off", key)
		}
	}
	if err != nil {
		return NewCall(tool, class, map[string]any{}),
			fmt.Errorf("the arguments of %s cannot be judged: %w", tool, err)
	}
	return NewCall(tool, class, args), nil
}

// NewCall returns a call with these arguments, which the caller must not change afterwards.
func NewCall(tool, class string, args map[string]any) Call {
	c := Call{Tool: tool, Kind: tool, Class: class, Args: args}
	c.all, c.tooMany = flatten(tool, args)
	c.lines = callLines(tool, args, c.all)
	texts := make([]string, len(c.lines))
	for i, l := range c.lines {
		texts[i] = l.text
	}
	c.Command = strings.Join(texts, "\n")
	return c
}

// markupArguments are the arguments from whose end OpenClaw removes markupTail before it runs the call.
var markupArguments = []string{"command", "workdir", "host", "ask", "node", "path"}

var markupTail = regexp.MustCompile(`</arg_value>>+$`)

var errNoObject = errors.New("they are not one JSON object")

// maxDepth is the limit of encoding/json for nested arguments. JSON.parse has none.
const maxDepth = 10000

func parseObject(doc []byte) (map[string]any, error) {
	s := jsontext.Scanner{Doc: doc, Depth: maxDepth}
	args, ok := parseValue(&s).(map[string]any)
	if !ok || s.End() != nil || !utf8.Valid(doc) {
		return nil, errNoObject
	}
	return args, nil
}

// parseValue reads one JSON value. On a syntax error it sets s.Err and returns anything.
func parseValue(s *jsontext.Scanner) any {
	switch s.Peek() {
	case '{':
		members := map[string]any{}
		for ok := s.Enter('{'); ok && s.Next('}'); {
			key, _ := s.Key()
			members[string(key)] = parseValue(s)
		}
		return members
	case '[':
		list := []any{}
		for ok := s.Enter('['); ok && s.Next(']'); {
			list = append(list, parseValue(s))
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

// toolCall is the tool through which OpenClaw's Tool Search calls another one: {"id": name, "args": {…}}.
const toolCall = "tool_call"

// Carried returns the call inside a tool_call, as OpenClaw reads it: the name is in id, toolId or name,
// possibly behind the catalog's "source:owner:"; the arguments are in args or input or, where these are
// missing or empty, beside the name. An ambiguous call has nil arguments, so that it cannot be judged.
func Carried(tool string, arguments []byte) (inner string, args []byte, ok bool) {
	if tool != toolCall {
		return "", nil, false
	}
	var in map[string]json.RawMessage // a struct would also take ID and ARGS
	if json.Unmarshal(arguments, &in) != nil {
		return "", nil, false
	}
	names := presentKeys(in, "id", "toolId", "name")
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
	if nested := presentKeys(in, "args", "input"); len(nested) > 0 {
		args = in[nested[0]]
		var text string
		if json.Unmarshal(args, &text) == nil { // encoded twice
			args = []byte(text)
		}
		if empty, err := parseObject(args); err != nil || len(empty) > 0 {
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

// presentKeys returns the keys that have a value other than null.
func presentKeys(in map[string]json.RawMessage, keys ...string) []string {
	var out []string
	for _, key := range keys {
		if v := in[key]; v != nil && string(v) != "null" {
			out = append(out, key)
		}
	}
	return out
}
