package console

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// toolLists copies lists of tools, which otherwise would keep the whole body of a request in memory. It
// remembers the last lists, since most requests repeat one of them.
type toolLists struct {
	lists [8]atomic.Pointer[[]tools.Tool]
	next  atomic.Uint32
}

// copyOf returns a copy of a list. A list that is too long is unknown.
func (in *toolLists) copyOf(list []tools.Tool) (kept []tools.Tool, unknown bool) {
	for i := range in.lists {
		if had := in.lists[i].Load(); had != nil && slices.EqualFunc(*had, list, sameTool) {
			return *had, false
		}
	}
	all := 0
	for i := range list {
		all += len(list[i].Name) + len(list[i].Parameters)
	}
	if all > maxOffered {
		return nil, true
	}
	kept, buf := slices.Clone(list), make([]byte, 0, all)
	for i := range kept {
		from := len(buf)
		buf = append(buf, list[i].Parameters...)
		kept[i] = tools.Tool{Name: strings.Clone(list[i].Name)}
		if len(buf) > from {
			kept[i].Parameters = buf[from:len(buf):len(buf)]
		}
	}
	in.lists[in.next.Add(1)%uint32(len(in.lists))].Store(&kept)
	return kept, false
}

func sameTool(a, b tools.Tool) bool {
	return a.Name == b.Name && bytes.Equal(a.Parameters, b.Parameters)
}
