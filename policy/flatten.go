package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// argument is a named value in the arguments of a call, at any depth.
type argument struct {
	name     string         // in a list, that of the list; empty: the value is itself a name
	path     string         // with the names around it, as in attachments.media
	kind     kind           // by its name
	value    any            // a text, a list without mappings and lists, or a mapping
	siblings map[string]any // the mapping that holds it
}

func (a argument) topLevel() bool { return a.path == a.name }

// texts returns the texts of the value; odd reports whether it holds anything else.
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
	maxArguments = 4000 // texts
	maxNesting   = 64   // depth
	maxJSON      = 8    // texts with JSON, one in the other
	maxFolders   = 4    // folders to run in, in one mapping
)

// flattener collects arguments.
type flattener struct {
	out       []argument
	count     int  // texts so far
	depth     int  // mappings and lists around this one
	jsonDepth int  // texts with JSON around this one
	tooMany   bool // a limit is exceeded
}

// flatten returns the arguments of a call at any depth in a fixed order, those of JSON in texts among them.
// It skips the call inside a tool_call, which is judged by itself.
func flatten(tool string, args map[string]any) (found []argument, over bool) {
	if tool == toolCall {
		args = maps.Clone(args)
		delete(args, "args")
		delete(args, "input")
	}
	var n flattener
	n.addMapping("", args)
	return n.out, n.tooMany
}

func (n *flattener) addMapping(path string, m map[string]any) {
	folders := 0
	for _, name := range sortedKeys(m) {
		kind := kindOf(name)
		if worksIn(name, kind, m) {
			if folders++; folders > maxFolders {
				n.tooMany = true
			}
		}
		if pathLike(name) {
			n.add(argument{path: path, value: name, siblings: m})
		}
		n.addValue(argument{name: name, path: strings.TrimPrefix(path+"."+name, "."), kind: kind,
			value:    m[name],
			siblings: m})
	}
}

func sortedKeys(m map[string]any) []string {
	out := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(out)
	return out
}

// addValue adds one argument. A list gives one argument with its plain values, and others for its mappings
// and lists.
func (n *flattener) addValue(a argument) {
	if n.depth++; n.depth > maxNesting {
		n.tooMany = true
	}
	defer func() { n.depth-- }()
	if n.tooMany {
		return
	}
	switch v := a.value.(type) {
	case nil:
	case map[string]any:
		n.add(a)
		if a.kind != environment { // its names are those of variables
			n.addMapping(a.path, v)
		}
	case []any:
		flat := make([]any, 0, len(v))
		for _, e := range v {
			switch e.(type) {
			case map[string]any, []any:
				inner := a
				inner.value = e
				n.addValue(inner)
			default:
				flat = append(flat, e)
				n.addJSON(a, e)
			}
		}
		if a.value = flat; len(flat) > 0 || len(v) == 0 {
			n.add(a)
		}
	default:
		n.add(a)
		n.addJSON(a, v)
	}
}

func (n *flattener) add(a argument) {
	if list, _ := a.texts(); a.kind != plainText {
		n.count += len(list)
	}
	if n.count > maxArguments {
		n.tooMany = true
		return
	}
	n.out = append(n.out, a)
}

// addJSON adds the arguments of a text that is JSON, unless a person or a file receives that text.
func (n *flattener) addJSON(a argument, v any) {
	text, is := v.(string)
	text = strings.TrimSpace(text)
	if !is || n.tooMany || text == "" || text[0] != '{' && text[0] != '[' || a.kind == plainText ||
		isFile(a.name) {
		return
	}
	s := jsontext.Scanner{Doc: []byte(text), Depth: maxDepth}
	inner := parseValue(&s)
	if s.End() != nil {
		return
	}
	if n.jsonDepth++; n.jsonDepth > maxJSON {
		n.tooMany = true
		return
	}
	a.value = inner
	n.addValue(a)
	n.jsonDepth--
}
