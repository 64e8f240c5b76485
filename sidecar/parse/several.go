package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Several are the calls in the arguments of a tool that the request does not offer: a wrapper, such as
// multi_tool_use.parallel of OpenAI's models. If the tool is no known wrapper, no call may change something.
func (k *Keys) Several(offered *tools.Catalog, c Call, depth int, cut bool) []Call {
	// at a glance
	if !slices.ContainsFunc(k.Calls, func(key string) bool { return strings.Contains(c.Args, `"`+key+`"`) }) {
		return nil
	}
	if _, refusal := offered.Name(strings.Clone(c.Name)); refusal == nil {
		return nil
	}
	changes := func(c Call) bool { class, _ := offered.ClassOf(c.Name); return class != tools.Read }
	found, ok := k.Read(offered, c.Args, depth, cut)
	if !ok || !scan.Among(c.Name, k.Calls, k.Inside) && !offered.Wraps(c.Name) &&
		slices.ContainsFunc(found.List, changes) {
		return nil
	}
	return found.List
}

// Objects are the objects of which a text consists, where they are more than one: the arguments of calls of
// one tool, which a server has put together.
func Objects(text string) (all []string) {
	for s := (jsontext.Scanner{Doc: []byte(text)}); ; {
		switch {
		case s.Peek() == '{':
			at := s.Skip()
			all = append(all, string(at.Of(s.Doc)))
		case len(all) < 2 || s.End() != nil:
			return nil
		default:
			return slices.Compact(all)
		}
	}
}
