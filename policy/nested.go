package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// argument is what stands under a name in the arguments of a call, however deep: a text, a
// list of texts, or something else.
type argument struct {
	name  string         // of what stands in a list, the name of the list; empty: it is itself a name
	path  string         // with the names around it: attachments.media
	kind  kind           // as its name says
	value any            // a text, a list without mappings and lists in it, or a mapping
	in    map[string]any // the mapping that it stands in
}

// top says whether it stands in no other argument.
func (a argument) top() bool { return a.path == a.name }

// texts are those of the value; odd: it holds something that is no text.
func (a argument) texts() (out []string, odd bool) {
	switch v := a.value.(type) {
	case string:
		if v != "" {
			out = append(out, v)
		}
	case []any:
		for _, e := range v {
			text, is := e.(string)
			odd = odd || !is
			if text != "" {
				out = append(out, text)
			}
		}
	default:
		odd = true
	}
	return out, odd
}

// How many arguments are looked at, how deep they may stand, and how deep texts may hold
// JSON in which texts hold JSON. All are far beyond what tools take.
const (
	mostArguments = 4000
	deepest       = 64
	mostOpened    = 8
	mostFolders   = 4 // in which one mapping says that things work
)

// nesting takes arguments apart.
type nesting struct {
	found  []argument
	count  int  // of texts that are looked at
	depth  int  // mappings and lists around this one
	opened int  // texts with JSON around this one
	over   bool // there is more than is looked at
}

// nested are the arguments of a call at any depth, in a fixed order, those of JSON in texts
// among them. What tool_call carries is a call of its own. over: there are more than are looked at.
func nested(tool string, args map[string]any) (found []argument, over bool) {
	if tool == carrier {
		args = maps.Clone(args)
		delete(args, "args")
		delete(args, "input")
	}
	var n nesting
	n.mapping("", args)
	return n.found, n.over
}

func (n *nesting) mapping(path string, m map[string]any) {
	folders := 0
	for _, name := range keys(m) {
		kind := meaning(name)
		if worksIn(name, kind, m) {
			if folders++; folders > mostFolders {
				n.over = true
			}
		}
		if named(name) {
			n.add(argument{path: path, value: name, in: m})
		}
		n.value(argument{name: name, path: strings.TrimPrefix(path+"."+name, "."), kind: kind, value: m[name],
			in: m})
	}
}

// keys are those of a mapping, sorted.
func keys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// value takes one argument. A list gives one for all that is plain in it, and others for
// what is in its mappings and lists.
func (n *nesting) value(a argument) {
	if n.depth++; n.depth > deepest {
		n.over = true
	}
	defer func() { n.depth-- }()
	if n.over {
		return
	}
	switch v := a.value.(type) {
	case nil:
	case map[string]any:
		n.add(a)
		if a.kind != environment { // its names are those of variables
			n.mapping(a.path, v)
		}
	case []any:
		flat := make([]any, 0, len(v))
		for _, e := range v {
			switch e.(type) {
			case map[string]any, []any:
				inner := a
				inner.value = e
				n.value(inner)
			default:
				flat = append(flat, e)
				n.open(a, e)
			}
		}
		if a.value = flat; len(flat) > 0 || len(v) == 0 {
			n.add(a)
		}
	default:
		n.add(a)
		n.open(a, v)
	}
}

func (n *nesting) add(a argument) {
	if list, _ := a.texts(); a.kind != plainText {
		n.count += len(list)
	}
	if n.count > mostArguments {
		n.over = true
		return
	}
	n.found = append(n.found, a)
}

// open looks into a text that is JSON. It skips texts that are only to be read: what a call writes into a
// file or a message is no argument.
func (n *nesting) open(a argument, v any) {
	text, is := v.(string)
	text = strings.TrimSpace(text)
	if !is || n.over || text == "" || text[0] != '{' && text[0] != '[' || a.kind == plainText ||
		isFile(a.name) {
		return
	}
	s := jsontext.Scanner{Doc: []byte(text), Depth: mostNested}
	inner := value(&s)
	if s.End() != nil {
		return
	}
	if n.opened++; n.opened > mostOpened {
		n.over = true
		return
	}
	a.value = inner
	n.value(a)
	n.opened--
}
