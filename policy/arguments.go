package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Arguments says which arguments of tools are paths and URLs: tool, or kind of tool → names. A name matches
// arguments at any depth in any spelling; a.b matches b only inside a.
type Arguments struct {
	Read, Write, Delete map[string][]string
	Patch               map[string][]string // texts that name files to change
	Message             map[string][]string // texts that may name files to send along
	// patterns of files to read; such a tool searches folders
	Glob  map[string][]string
	Fetch map[string][]string
	Text  map[string][]string // texts that are not examined
	// of any tool, also as the last word of a name; written, unless the tool's class is read
	OtherPaths []string
	OtherURLs  []string // of any tool, also as the last word of a name
}

// hasScheme matches a URL where a path could stand, too.
var hasScheme = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9+.-]*://`)

// remote reports whether a text is a URL other than that of a local file.
func remote(text string) bool {
	return strings.Contains(text, "://") && hasScheme.MatchString(text) && !strings.HasPrefix(text, "file://")
}

// unusablePath is a path that every guard rejects.
const unusablePath = "\x00"

// role is what a tool does with an argument.
type role struct {
	ops      []paths.Op // it is a path, or a URL where a path could stand
	patch    bool
	message  bool
	glob     bool
	url      bool
	byList   bool // known from the tool's own list
	byEnding bool // known only from the last word of its name, or from a name around it
	byLook   bool // known only from what the text looks like
	shell    bool // it may be a line of shell
}

// role determines what an argument is: by the tool's own lists, then by its name, then by its look.
func (a *Arguments) role(c *Call, arg argument) (r role) {
	name, path := fold(arg.name), fold(arg.path)
	has := func(lists map[string][]string) bool {
		is := func(n string) bool { n = fold(n); return n == name || n == path }
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
	if r.byList = len(r.ops) > 0 || r.patch || r.glob || r.url; r.byList || r.message || has(a.Text) {
		return r
	}
	switch k := arg.kind; {
	case k == folder && !(arg.topLevel() && arg.name == "workdir"), // Examine looks at that first
		k == unknown && c.Class == "exec" && arg.topLevel() && worksIn(arg.name, arg.kind, arg.siblings):
		return role{ops: []paths.Op{paths.Read}, byEnding: true}
	case k != unknown || isFile(arg.name):
		return role{}
	case endsIn(arg.name, a.OtherPaths):
		return role{ops: a.ops(c, arg.name), byEnding: !isOneOf(arg.name, a.OtherPaths)}
	case endsIn(arg.name, a.OtherURLs):
		if !isOneOf(arg.name, a.OtherURLs) { // some are told a file here
			return role{ops: a.ops(c, arg.name), url: true, byEnding: true, byLook: true}
		}
		return role{url: true}
	case endsIn(arg.name, []string{"glob", "pattern"}):
		return role{glob: true, byLook: !strings.HasPrefix(arg.name, "glob")}
	}
	around := slices.ContainsFunc(strings.Split(arg.path, "."),
		func(name string) bool { return endsIn(name, a.OtherURLs) })
	return role{ops: a.ops(c, arg.name), url: true, byEnding: around, byLook: true, shell: true}
}

// isOneOf reports whether a name is one of the words, in any spelling.
func isOneOf(name string, words []string) bool {
	name = fold(name)
	return slices.ContainsFunc(words, func(w string) bool { return fold(w) == name })
}

// endsIn reports whether a name is one of the words or ends in one.
func endsIn(name string, words []string) bool {
	if isOneOf(name, words) {
		return true
	}
	for end := range nameEndings(name) {
		if isOneOf(end, words) {
			return true
		}
	}
	return false
}

// sourceWords end names of arguments that a writing tool reads: what it sends or moves.
var sourceWords = strings.Fields("attachment media source src input upload from")

// ops returns what a tool may do to a path that no list of its own names.
func (a *Arguments) ops(c *Call, name string) []paths.Op {
	switch {
	case c.Class == "read":
		return []paths.Op{paths.Read}
	case endsIn(name, sourceWords):
		return []paths.Op{paths.Write, paths.Read}
	}
	return []paths.Op{paths.Write}
}

// paths returns the paths in the arguments of a call.
func (a *Arguments) paths(c *Call, g paths.Guard) (out []paths.Use) {
	seen := map[[3]string]bool{}
	add := func(u paths.Use) {
		if key := [3]string{u.Op, u.Path, u.Resolved}; !seen[key] {
			seen[key] = true
			out = append(out, u)
		}
	}
	for _, arg := range c.all {
		r := a.role(c, arg)
		list, odd := arg.texts()
		if odd && r.byList && !r.url {
			list = append(list, unusablePath)
		}
		for _, text := range list {
			for _, here := range guardsFor(arg.siblings, arg.topLevel(), g) {
				switch {
				case r.patch:
					touched := paths.Patched(text)
					if len(touched) == 0 { // it cannot be judged
						touched = []paths.Touch{{Op: paths.Write, Path: unusablePath}}
					}
					for _, t := range touched {
						add(here.Literal(t.Op, t.Path))
					}
				case r.message:
					for _, name := range mediaFiles(text) {
						if u := here.Literal(paths.Read, name); (role{byLook: true}).keepPath(&u, name) {
							add(u)
						}
					}
				case r.glob && r.byLook && !looksGlob(text):
				case r.glob:
					add(globUse(text, here))
				case remote(text):
				default:
					for _, op := range r.ops {
						if u := here.Literal(op, text); r.keepPath(&u, text) {
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

// looksThrough reports whether a tool searches the folders that it is given.
func (a *Arguments) looksThrough(c *Call) bool {
	_, tool := a.Glob[c.Tool]
	_, kind := a.Glob[c.Kind]
	return tool || kind
}

// guardsFor returns one guard for the folder in which the call runs, and one for each folder that stands
// beside the argument. The call's own workdir is already in g.
func guardsFor(in map[string]any, top bool, g paths.Guard) []paths.Guard {
	out := []paths.Guard{g}
	for _, name := range sortedKeys(in) {
		if dir, is := in[name].(string); is && dir != "" && !(top && name == "workdir") &&
			worksIn(name, kindOf(name), in) {
			there := g
			there.Roots.Cwd = g.Literal(paths.Read, dir).Resolved
			out = append(out, there)
		}
	}
	return out
}

// keepPath reports whether a path counts, and corrects guesses: a tool told to work in the workspace does not
// write that folder, and text that only looks like a path counts only where it leads to a class of its own.
func (r role) keepPath(u *paths.Use, text string) bool {
	if (r.byEnding || r.byLook) && u.Class == paths.WorkspaceRoot {
		u.Op = string(paths.Read)
	}
	if !r.byLook {
		return true
	}
	if u.Class == paths.Malformed {
		u.Class = paths.Dynamic // for those who fill something in
	}
	if !looksLike(looksOutside, text) {
		return looksLike(looksFile, text) && slices.Contains(specialClasses, u.Class)
	}
	return !slices.Contains([]string{paths.Workspace, paths.WorkspaceRoot, paths.Readable, paths.Null},
		u.Class)
}

// specialClasses are classes that a file name alone decides, such as .env.
var specialClasses = []string{paths.Secret, paths.WorkspaceSecret, paths.Persist, paths.Control,
	paths.Automation,
	paths.VCS, paths.Foreign}

// braces matches alternatives in a pattern.
var braces = regexp.MustCompile(`\{[^{}]*\}`)

// globUse returns what a pattern of a file tool stands for. Alternatives count as *.
func globUse(text string, g paths.Guard) paths.Use {
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

// urls returns the URLs in the arguments of a call.
func (a *Arguments) urls(c *Call, lookup urls.Lookup) (out []urls.Use) {
	for _, arg := range c.all {
		r := a.role(c, arg)
		list, _ := arg.texts()
		for _, text := range list {
			switch {
			case r.url && !r.byEnding && !r.byLook, r.url && hasScheme.MatchString(text), remote(text) &&
				len(r.ops) > 0: // an image may be a file or a URL
			case r.url && looksLike(looksHost, text):
				text = "http://" + strings.TrimPrefix(text, "//")
				if !r.byEnding && urls.Word(text, false, "GET").Class != urls.Metadata {
					continue
				}
			default:
				continue
			}
			out = append(out, urls.Follow(text, method(c, arg.siblings), nil, lookup)...)
		}
	}
	return out
}

// method returns the HTTP method that other arguments name or imply: a body means POST.
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

// mediaLine is how OpenClaw is told in the text of a message to send a file along.
var mediaLine = regexp.MustCompile(`(?im)\bMEDIA:\s*([^\n]+)`)

// mediaFiles are the files that a message names to be sent along: what stands behind MEDIA:,
// and each word of it, since there may be several.
func mediaFiles(text string) (out []string) {
	if !strings.Contains(strings.ToLower(text), "media:") {
		return nil
	}
	for _, m := range mediaLine.FindAllStringSubmatch(text, maxArguments) {
		for _, name := range append(strings.Fields(m[1]), m[1]) {
			if name = strings.Trim(name, "`\"'[]{}(), \r\\"); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
