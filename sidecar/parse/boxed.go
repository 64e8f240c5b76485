package parse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// boxed is doc with the arguments of its last call as a JSON text in their place, just as they stand:
// they are no JSON, and all around them is. So the damage cannot reach beyond them.
func (k *Keys) boxed(doc string, depth int) (box, args string, ok bool) {
	from, to, ok := k.damaged(doc, depth)
	if !ok {
		return "", "", false
	}
	args = strings.TrimSpace(doc[from:to])
	text, err := json.Marshal(args)
	box = doc[:from] + string(text) + doc[to:]
	return box, args, err == nil && gjson.Valid(box)
}

// certain reports whether each call fits an offered tool, args are those of the last call, and no text was
// put into an argument that the model did not name.
func certain(offered *tools.Catalog, calls []Call, args string) bool {
	if n := len(calls); n == 0 || calls[n-1].Args != args {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool {
		call, refusal := offered.Call(strings.Clone(c.Name), []byte(c.Args), tools.Ending{})
		return refusal != nil ||
			slices.ContainsFunc(call.Repairs, func(r tools.Repair) bool { return r.Kind == "args.wrap" })
	})
}

// damaged is where the arguments stand that are no JSON, in a document that is JSON in front of them
// and behind them.
func (k *Keys) damaged(doc string, depth int) (from, to int, ok bool) {
	var closers []byte
	raw := []byte(doc)
	for i := scan.SkipSpace(doc, 0); i < len(doc) && len(closers) < maxWalk; {
		switch doc[i] {
		case '[':
			closers = append(closers, ']')
			i = scan.SkipSpace(doc, i+1)
			continue
		case '{':
			closers = append(closers, '}')
			i++
		case ',':
			i++
		default:
			return 0, 0, false
		}
		key, at, ok := keyAt(doc, scan.SkipSpace(doc, i))
		if !ok {
			return 0, 0, false
		}
		end := valueEnd(raw, at, depth)
		switch {
		case end > 0:
			i = scan.SkipSpace(doc, end)
		case scan.Among(key, k.Arguments):
			to, ok := before(doc, at, closers)
			return at, to, ok
		default:
			i = at
		}
	}
	return 0, 0, false
}

// keyAt reads the key at doc[i:], and says where its value begins.
func keyAt(doc string, i int) (key string, value int, ok bool) {
	rest, quoted := strings.CutPrefix(doc[i:], `"`)
	key, rest, closed := strings.Cut(rest, `"`)
	colon := scan.SkipSpace(rest, 0)
	if !quoted || !closed || colon == len(rest) || rest[colon] != ':' {
		return "", 0, false
	}
	return key, scan.SkipSpace(doc, len(doc)-len(rest)+colon+1), true
}

// valueEnd is the offset behind the JSON value at doc[at:], if one goes on or ends there; else 0.
func valueEnd(doc []byte, at, depth int) int {
	s := jsontext.Scanner{Doc: doc, Pos: at, Depth: depth}
	end := s.Skip().To
	next := bytes.TrimLeft(doc[end:], " \t\r\n")
	if s.Err != nil || len(next) == 0 || bytes.IndexByte([]byte(",}]"), next[0]) < 0 {
		return 0
	}
	return end
}

// before is where the closers begin that end doc, the innermost first.
func before(doc string, from int, closers []byte) (to int, ok bool) {
	to = len(doc)
	for _, c := range closers {
		to = len(strings.TrimRight(doc[:to], " \t\r\n")) - 1
		if to <= from || doc[to] != c {
			return 0, false
		}
	}
	return to, true
}
