package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Keys are the keys under which a call object keeps its parts. They are the part json of
// a strategy in rule files, too, which the tags describe.
type Keys struct {
	Calls     []string `rule:"calls" doc:"Keys that hold the list of calls." eg:"[tool_calls, calls]"`
	Name      []string `rule:"name,required" doc:"Keys that hold the name of the tool." eg:"[name, tool, function]"`
	Inside    []string `rule:"inside" doc:"Keys that hold the call object itself. If left out, it is function." eg:"[function, function_call]"`
	Arguments []string `rule:"arguments,required" doc:"Keys that hold the arguments." eg:"[arguments, parameters, args]"`
	Through   []string `rule:"through" doc:"Keys that lead to a call where the whole reply is an object of another API." eg:"[choices, message, toolUse]"`
	Beside    []string `rule:"beside" doc:"Keys that may stand beside those of through; any other one makes it text. With = only with this value." eg:"[id, model, role=assistant]"`
	To        []string `rule:"to" doc:"Keys that hold whom a message is sent to; a tool, and the message is a call." eg:"[recipient, to]"`
	Body      []string `rule:"body" doc:"Keys that hold the text of a message, or the arguments of such a call." eg:"[content, text]"`
	Thinks    []string `rule:"thinks" doc:"Keys that hold thoughts, and types of what does." eg:"[thinking, reasoning_content]"`
	Heads     []string `rule:"heads" doc:"Keys of the lines of a header above arguments, in small letters with _ between words." eg:"[channel, recipient, content_type]"`
	Status    []string `rule:"status" doc:"The same, of a line that names a tool. Only a tool that reads is called so." eg:"[calling_tool]"`
	Tags      []string `rule:"tags" doc:"Elements whose attributes hold the parts of a call." eg:"[message, details]"`
	Done      []string `rule:"done" doc:"Keys that end the turn if they are true." eg:"[done]"`
	Answer    []string `rule:"answer" doc:"Keys that hold the text for the user if there is no call." eg:"[answer, response]"`
}

// Usual are the keys where no strategy names any.
func Usual() *Keys {
	return &Keys{
		Calls:     []string{"tool_calls", "tool_uses"},
		Name:      []string{"name", "tool", "recipient_name"},
		Arguments: []string{"arguments", "parameters", "args", "input"},
		Answer:    []string{"answer", "response", "final_answer"},
	}
}

// AnswerOf is the answer in an object with which a reply ends the turn; "" if there is none.
func (k *Keys) AnswerOf(doc string) string {
	if !gjson.Valid(doc) {
		return ""
	}
	return firstOf(gjson.Parse(doc), k.Answer).Str
}

// thoughtKeys are where a guided reply thinks.
var thoughtKeys = []string{"reasoning", "thought"}

// besides are the keys that a call object may have beside its name and arguments.
var besides = []string{"id", "type", "call_id", "index", "toolUseId", "status"}

// Starts says whether v begins like a call object: its first key names a call, or a tool in c; its id
// and type may stand in front.
func (k *Keys) Starts(c *tools.Catalog, v string, eof bool) scan.Verdict {
	short := scan.WaitUnless(eof)
	i := scan.SkipSpace(v, 1)
	if v[0] == '[' {
		if i == len(v) {
			return short
		}
		if v[i] != '{' {
			return scan.No
		}
		i = scan.SkipSpace(v, i+1)
	}
	for {
		switch {
		case i == len(v):
			return short
		case v[i] != '"':
			return scan.No
		}
		key, rest, whole := strings.Cut(v[i+1:], `"`)
		switch {
		case !whole:
			return short
		case scan.Among(key, k.Name, k.Calls, k.inside()), c.Exact(key):
			return scan.Yes
		case !scan.Among(key, besides):
			return scan.No
		}
		value, rest, whole := strings.Cut(rest, ",") // what the call is called, or its type
		switch {
		case strings.ContainsAny(value, "{[]}"):
			return scan.No
		case !whole:
			return short
		}
		i = scan.SkipSpace(v, len(v)-len(rest))
	}
}

// Headed says whether v begins as an object that calls a header by name, as a server writes the answer
// for which it knows no tool: {"name": "assistant<|channel|>final", …
func (k *Keys) Headed(a *harmony.Alphabet, v string, eof bool) scan.Verdict {
	const most = 64
	part := strings.SplitN(v[:min(len(v), most)], `"`, 5) // around the first key and a text behind it
	switch {
	case strings.Trim(part[0], "{ \n\t\r") != "", len(part) > 2 && !slices.Contains(k.Name, part[1]):
		return scan.No
	case len(part) > 3:
		if at, _, _ := a.Find(part[3], 0, false); at >= 0 {
			return scan.Yes
		}
	}
	return scan.WaitUnless(eof || len(part) > 4 || len(v) >= most)
}

// Found is what stands in a value: calls, and what a guided reply says beside them.
type EnvelopeFound struct {
	List      []Call
	Reasoning string
	Answer    string
	Said      string // text beside calls
	Again     string // in place of calls, what the model said, token by token
	Printed   bool   // a program printed it: it is no JSON
	Done      bool
	Repairs   []tools.Repair
}

// Read reads doc, mended where needed, as calls of the tools in offered. It may nest so deep. cut
// says that the reply ended at its token limit inside of doc.
func (k *Keys) Read(offered *tools.Catalog, doc string, depth int, cut bool) (c EnvelopeFound, ok bool) {
	clean, unsure := strings.Clone(doc), false
	if !gjson.Valid(clean) {
		clean, c.Repairs = offered.Plain(clean)
		fixed, err := jsonrepair.Repair(clean, depth)
		if err != nil {
			return c, false
		}
		unsure = fixed.Unsure || fixed.Words || fixed.Cut == jsonrepair.Unquoted || args.Beats(clean)
		lost := fixed.Cut >= jsonrepair.Unended || cut && fixed.Cut != jsonrepair.Whole ||
			fixed.Has(jsonrepair.KindValue)
		if box, args, ok := k.boxed(clean, depth); ok && !cut && (lost || unsure) {
			if f, ok := k.Read(offered, box, depth, cut); ok && certain(offered, f.List, args) {
				return f, true
			}
		}
		if lost {
			return c, false
		}
		clean, c.Repairs = string(fixed.JSON), append(c.Repairs, tools.Mended(fixed.Changes)...)
	}
	root := gjson.Parse(clean)
	doubt := k.remarks(root) ||
		slices.ContainsFunc(c.Repairs, func(r tools.Repair) bool { return r.Kind == jsonrepair.KindComment })
	if list, guided := k.listIn(root); guided {
		if c.List, ok = k.list(offered, list); !ok || k.foreign(root) {
			return EnvelopeFound{}, false
		}
		for i := range c.List {
			c.List[i].Unsure, c.List[i].Doubt = unsure, doubt || c.List[i].Doubt
		}
		c.Reasoning = firstOf(root, thoughtKeys).Str
		c.Answer = firstOf(root, k.Answer).Str
		c.Done = firstOf(root, k.Done).Bool()
		return c, len(c.List) > 0 || c.Answer != "" || c.Done
	}
	one, ok := k.object(offered, root)
	if one.Unsure, one.Doubt = unsure, doubt || one.Doubt; ok {
		c.List = []Call{one}
	}
	return c, ok
}
