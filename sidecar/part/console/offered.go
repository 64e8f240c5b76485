package console

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// intake makes lists of tools the store's own: they stand in the body of a request, which may
// be large. It remembers the last lists, since most requests bring one of them.
type intake struct {
	lists [8]atomic.Pointer[[]tools.Tool]
	next  atomic.Uint32
}

// own is a list that shares no memory with a request. One that is too long is not known.
func (in *intake) own(list []tools.Tool) (kept []tools.Tool, unknown bool) {
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
