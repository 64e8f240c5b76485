package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Arguments says which arguments of tools are paths and URLs: tool, or kind of tool → names. A name
// is that of an argument at any depth, however it is spelled; a.b is b only where it stands in a.
type Arguments struct {
	Read, Write, Delete map[string][]string
	Patch               map[string][]string // texts that name files to be changed
	Message             map[string][]string // texts that may name files to be sent along
	// patterns that stand for files; they are read. Such a tool looks through folders
	Glob  map[string][]string
	Fetch map[string][]string
	Text  map[string][]string // texts that are not examined
	// of any tool, also as the last word of a name; written, unless the class of the tool is read
	OtherPaths []string
	OtherURLs  []string // the same
}

// hasScheme is how a text begins that is a URL where a path could stand, too.
var hasScheme = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9+.-]*://`)

// remote reports whether a text is a URL that is no local file.
func remote(text string) bool {
	return strings.Contains(text, "://") && hasScheme.MatchString(text) && !strings.HasPrefix(text, "file://")
}

// unreadable is a path that no guard takes.
const unreadable = "\x00"

// role is what a tool does with an argument.
type role struct {
	ops     []paths.Op // it is a path, or a URL in the place of one
	patch   bool
	message bool
	glob    bool
	url     bool
	listed  bool // the tool's own list says so
	guessed bool // only the last word of its name says so, or a name around it
	looked  bool // nothing says what it is: it is what it looks like
	shell   bool // it may be a line of shell
}

// role finds out what an argument of a call is: by the tool's own lists, then by its name,
// then by its look.
func (a *Arguments) role(c *Call, arg argument) (r role) {
	name, path := folded(arg.name), folded(arg.path)
	has := func(lists map[string][]string) bool {
		is := func(n string) bool { n = folded(n); return n == name || n == path }
		return slices.ContainsFunc(lists[c.Tool], is) || slices.ContainsFunc(lists[c.Kind], is)
	}
	for _, by := range []struct {
		op   paths.Op
		keys map[string][]string
	}{{paths.Read, a.Read}, {paths.Write, a.Write}, {paths.Delete, a.Delete}} {
		if has(by.keys) {
			r.ops = append(r.ops, by.op)
		}
	}
	r.patch, r.message, r.glob, r.url = has(a.Patch), has(a.Message), has(a.Glob), has(a.Fetch)
	if r.listed = len(r.ops) > 0 || r.patch || r.glob || r.url; r.listed || r.message || has(a.Text) {
		return r
	}
	exactly := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return folded(w) == name })
	}
	switch k := arg.kind; {
	case k == folder && !(arg.top() && arg.name == "workdir"), // Examine looks at that first
		k == unknown && c.Class == "exec" && arg.top() && worksIn(arg.name, arg.kind, arg.in):
		return role{ops: []paths.Op{paths.Read}, guessed: true}
	case k != unknown || isFile(arg.name):
		return role{}
	case says(arg.name, a.OtherPaths):
		return role{ops: a.ops(c, arg.name), guessed: !exactly(a.OtherPaths)}
	case says(arg.name, a.OtherURLs):
		if !exactly(a.OtherURLs) { // some are told a file here
			return role{ops: a.ops(c, arg.name), url: true, guessed: true, looked: true}
		}
		return role{url: true}
	case says(arg.name, []string{"glob", "pattern"}):
		return role{glob: true, looked: !strings.HasPrefix(arg.name, "glob")}
	}
	around := slices.ContainsFunc(strings.Split(arg.path, "."),
		func(name string) bool { return says(name, a.OtherURLs) })
	return role{ops: a.ops(c, arg.name), url: true, guessed: around, looked: true, shell: true}
}

func says(name string, words []string) bool {
	is := func(name string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return folded(w) == name })
	}
	if is(folded(name)) {
		return true
	}
	for end := range ends(name) {
		if is(end) {
			return true
		}
	}
	return false
}

// taken are words of names of what is read by tools that write: what they send, or move.
var taken = strings.Fields("attachment media source src input upload from")

// ops are what a tool may do to a path that no list of its own names.
func (a *Arguments) ops(c *Call, name string) []paths.Op {
	switch {
	case c.Class == "read":
		return []paths.Op{paths.Read}
	case says(name, taken):
		return []paths.Op{paths.Write, paths.Read}
	}
	return []paths.Op{paths.Write}
}

// paths are the paths in the arguments of a call.
func (a *Arguments) paths(c *Call, g paths.Guard) (out []paths.Use) {
	seen := map[[3]string]bool{}
	add := func(u paths.Use) {
		if key := [3]string{u.Op, u.Path, u.Resolved}; !seen[key] {
			seen[key] = true
			out = append(out, u)
		}
	}
	for _, arg := range c.nested {
		r := a.role(c, arg)
		list, odd := arg.texts()
		if odd && r.listed && !r.url {
			list = append(list, unreadable)
		}
		for _, text := range list {
			for _, here := range places(arg.in, arg.top(), g) {
				switch {
				case r.patch:
					touched := paths.Patched(text)
					if len(touched) == 0 { // it cannot be judged
						touched = []paths.Touch{{Op: paths.Write, Path: unreadable}}
					}
					for _, t := range touched {
						add(here.Literal(t.Op, t.Path))
					}
				case r.message:
					for _, name := range attached(text) {
						if u := here.Literal(paths.Read, name); (role{looked: true}).keeps(&u, name) {
							add(u)
						}
					}
				case r.glob && r.looked && !looksGlob(text):
				case r.glob:
					add(globbed(text, here))
				case remote(text):
				default:
					for _, op := range r.ops {
						if u := here.Literal(op, text); r.keeps(&u, text) {
							add(u)
							if op == paths.Read && a.looksThrough(c) {
								add(u.Below())
							}
						}
					}
				}
			}
		}
	}
	return out
}

// looksThrough reports whether a tool looks through the folders that it is given.
func (a *Arguments) looksThrough(c *Call) bool {
	_, tool := a.Glob[c.Tool]
	_, kind := a.Glob[c.Kind]
	return tool || kind
}

// places are the guards for what stands beside other arguments: as seen from where the call
// runs, and from the folder that stands there, too. The folder of the call itself is known.
func places(in map[string]any, top bool, g paths.Guard) []paths.Guard {
	out := []paths.Guard{g}
	for _, name := range keys(in) {
		if dir, is := in[name].(string); is && dir != "" && !(top && name == "workdir") &&
			worksIn(name, meaning(name), in) {
			there := g
			there.Roots.Cwd = g.Literal(paths.Read, dir).Resolved
			out = append(out, there)
		}
	}
	return out
}

// keeps says whether a path counts, and corrects what only its name or look says of it. A
// tool that is told to work in the workspace does not write that folder. What only looks
// like a path counts where it leads to a place of its own kind.
func (r role) keeps(u *paths.Use, text string) bool {
	if (r.guessed || r.looked) && u.Class == paths.WorkspaceRoot {
		u.Op = string(paths.Read)
	}
	if !r.looked {
		return true
	}
	if u.Class == paths.Malformed {
		u.Class = paths.Dynamic // for those who fill something in
	}
	if !looksLike(looksOutside, text) {
		return looksLike(looksFile, text) && slices.Contains(special, u.Class)
	}
	return !slices.Contains([]string{paths.Workspace, paths.WorkspaceRoot, paths.Readable, paths.Null},
		u.Class)
}

// special are classes that a name has by itself, such as .env.
var special = []string{paths.Secret, paths.WorkspaceSecret, paths.Persist, paths.Control, paths.Automation,
	paths.VCS, paths.Foreign}

// braces are alternatives in a pattern.
var braces = regexp.MustCompile(`\{[^{}]*\}`)

// globbed is what a pattern of a file tool stands for. Alternatives are taken for anything.
func globbed(text string, g paths.Guard) paths.Use {
	plain := text
	for n := 0; n < 8 && strings.Contains(plain, "{"); n++ {
		plain = braces.ReplaceAllStringFunc(plain, func(alternatives string) string {
			if strings.Contains(alternatives, "/") || strings.Contains(alternatives, "..") {
				return alternatives
			}
			return "*"
		})
	}
	plain = strings.TrimPrefix(plain, "!")
	if strings.HasPrefix(plain, "file:") || strings.Contains(plain, "{") ||
		!strings.ContainsAny(plain, "*?[") {
		return g.Literal(paths.Read, strings.TrimPrefix(text, "!"))
	}
	u := g.Word(paths.Read, paths.Word{Text: plain, Glob: true}, g.Roots.Cwd, paths.ViaTool)
	u.Path = text
	return u
}

// urls are the URLs in the arguments of a call.
func (a *Arguments) urls(c *Call, lookup urls.Lookup) (out []urls.Use) {
	for _, arg := range c.nested {
		r := a.role(c, arg)
		list, _ := arg.texts()
		for _, text := range list {
			switch {
			case r.url && !r.guessed && !r.looked, r.url && hasScheme.MatchString(text), remote(text) &&
				len(r.ops) > 0: // an image may be a file or a URL
			case r.url && looksLike(looksHost, text):
				text = "http://" + strings.TrimPrefix(text, "//")
				if !r.guessed && urls.Word(text, false, "GET").Class != urls.Metadata {
					continue
				}
			default:
				continue
			}
			out = append(out, urls.Follow(text, method(c, arg.in), nil, lookup)...)
		}
	}
	return out
}

// method is how a URL is asked for, by what stands beside it. What has a body sends it.
func method(c *Call, in map[string]any) string {
	for _, m := range []map[string]any{in, c.Args} {
		for _, name := range []string{"method", "httpMethod", "http_method", "verb"} {
			if text, _ := m[name].(string); text != "" {
				return strings.ToUpper(text)
			}
		}
		for _, name := range []string{"body", "json", "form", "formData", "form_data"} {
			if v := m[name]; v != nil && v != "" && c.Tool != "message" {
				return "POST"
			}
		}
	}
	return "GET"
}
