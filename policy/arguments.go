package policy

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Arguments says which arguments of tools are paths and URLs: tool → names.
type Arguments struct {
	Read, Write, Delete map[string][]string
	Patch               map[string][]string // texts that name files to be changed
	Fetch               map[string][]string
	OtherPaths          []string // of a tool in none of the lists of paths; written, unless its class is read
	OtherURLs           []string // of a tool that is not in Fetch
}

// hasScheme is how a text begins that is a URL where a path could stand, too.
var hasScheme = lazyregexp.New(`^\s*[A-Za-z][A-Za-z0-9+.-]*://`)

// remote reports whether a text is a URL that is no local file.
func remote(text string) bool {
	return hasScheme().MatchString(text) && !strings.HasPrefix(text, "file://")
}

// unreadable is a path that no guard takes.
const unreadable = "\x00"

// paths are the paths in the arguments of a call.
func (a *Arguments) paths(c Call, g paths.Guard) (out []paths.Use) {
	listed := false
	each := func(op paths.Op, keys []string) {
		for _, key := range keys {
			for _, text := range texts(at(c.Args, key)) {
				if !remote(text) {
					out = append(out, g.Literal(op, text))
				}
			}
		}
	}
	for _, by := range []struct {
		op   paths.Op
		keys map[string][]string
	}{{paths.Read, a.Read}, {paths.Write, a.Write}, {paths.Delete, a.Delete}} {
		keys, known := by.keys[c.Tool]
		listed = listed || known
		each(by.op, keys)
	}
	patch, known := a.Patch[c.Tool]
	for _, key := range patch {
		for _, text := range texts(at(c.Args, key)) {
			for _, touch := range patched(text) {
				out = append(out, g.Literal(touch.op, touch.path))
			}
		}
	}
	if !listed && !known {
		op := paths.Write
		if c.Class == "read" {
			op = paths.Read
		}
		each(op, a.OtherPaths)
	}
	return out
}

// urls are the URLs in the arguments of a call.
func (a *Arguments) urls(c Call, lookup urls.Lookup) (out []urls.Use) {
	keys, listed := a.Fetch[c.Tool]
	if !listed {
		keys = a.OtherURLs
	}
	method, _ := c.Args["method"].(string)
	if method == "" {
		method = "GET"
	}
	fetch := func(text string) {
		out = append(out, urls.Follow(text, strings.ToUpper(method), nil, lookup)...)
	}
	for _, key := range keys {
		for _, text := range texts(at(c.Args, key)) {
			fetch(text)
		}
	}
	for _, key := range a.pathKeys(c.Tool) { // an image may be a file or a URL
		for _, text := range texts(at(c.Args, key)) {
			if remote(text) && !slices.Contains(keys, key) {
				fetch(text)
			}
		}
	}
	return out
}

// pathKeys are the arguments of a tool that are paths.
func (a *Arguments) pathKeys(tool string) []string {
	out := slices.Concat(a.Read[tool], a.Write[tool], a.Delete[tool])
	if len(out) == 0 {
		return a.OtherPaths
	}
	return out
}

// at is an argument by its key; a.b is b in the mapping a, or in each mapping of the list a.
func at(args map[string]any, key string) any {
	if v, ok := args[key]; ok {
		return v
	}
	outer, inner, nested := strings.Cut(key, ".")
	if !nested {
		return nil
	}
	switch v := args[outer].(type) {
	case nil:
		return nil
	case map[string]any:
		return at(v, inner)
	case []any:
		var out []any
		for _, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				return unreadable
			}
			out = append(out, at(m, inner))
		}
		return out
	}
	return unreadable
}

// texts are the texts of an argument: one, or a list. Anything else cannot be judged,
// and gives a text that no guard takes.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e)...)
		}
		return out
	}
	return []string{unreadable}
}
