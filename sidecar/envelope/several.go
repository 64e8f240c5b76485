package envelope

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// Several are the calls in the arguments of a tool that nobody offers: a wrapper, such as
// multi_tool_use.parallel of OpenAI's models. In those of another one, none may change something.
func (k *Keys) Several(offered *tools.Catalog, c callcode.Call, depth int, cut bool) []callcode.Call {
	if !slices.ContainsFunc(k.Calls, func(key string) bool { return strings.Contains(c.Args, `"`+key+`"`) }) { // at a glance
		return nil
	}
	if _, refusal := offered.Name(strings.Clone(c.Name)); refusal == nil {
		return nil
	}
	changes := func(c callcode.Call) bool { class, _ := offered.ClassOf(c.Name); return class != tools.Read }
	found, ok := k.Read(offered, c.Args, depth, cut)
	if !ok || !scan.Among(c.Name, k.Calls, k.Inside) && !offered.Wraps(c.Name) && slices.ContainsFunc(found.List, changes) {
		return nil
	}
	return found.List
}
