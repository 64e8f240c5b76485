package paths

import (
	"path"
	"strings"
)

// glob classifies a word that the shell replaces by the files that fit: by the folder
// before the pattern, by the names in it that are said, and by the special places that
// would fit.
func (g Guard) glob(u *Use, op Op, text, cwd string) {
	parts := strings.Split(text, "/")
	first := 0
	for first < len(parts) && !pattern(parts[first]) {
		first++
	}
	if first == len(parts) {
		g.judge(u, op, text, cwd, false)
		return
	}
	fixed := strings.Join(parts[:first], "/") + "/"
	if first == 0 {
		fixed = "./"
	}
	rest := parts[first:]
	if up := climb(rest); up != nil {
		g.stricter(u, op, fixed+strings.Join(up, "/"), cwd)
	}
	rest, ups := reduce(rest)
	fixed += strings.Repeat("../", ups)
	if len(rest) == 0 {
		g.stricter(u, op, fixed, cwd)
		return
	}
	g.stricter(u, op, fixed+strings.Join(rest, "/"), cwd)
	var folder Use
	g.judge(&folder, op, fixed, cwd, false)
	if folder.Resolved != "" {
		u.worsen(g.fits(op, folder, rest))
	}
}

// stricter classifies one more path that a use may be, and keeps what is worse.
func (g Guard) stricter(u *Use, op Op, p, cwd string) {
	var other Use
	g.judge(&other, op, p, cwd, false)
	if u.Class == "" {
		u.Resolved = other.Resolved
	}
	u.worsen(other.Class)
	for _, m := range other.Marks {
		u.mark(m)
	}
}

func (u *Use) worsen(class string) {
	if class != "" && (u.Class == "" || stricter(class, u.Class)) {
		u.Class = class
	}
}

// fits is the class of a pattern in a folder by what may fit it; empty: nothing special.
func (g Guard) fits(op Op, folder Use, rest []string) (class string) {
	u := Use{}
	all := len(rest) == 1 && broad(rest[0])
	switch {
	case all && folder.Class == Root:
		u.worsen(Protected)
	case all && folder.Class == WorkspaceRoot && op != Delete:
	case all && op == Read:
		if folder.Class == Home || folder.Class == Protected {
			u.worsen(Outside)
		}
	case all && (folder.Class == Home || folder.Class == Protected || folder.Class == WorkspaceRoot):
		u.worsen(folder.Class)
	}
	full := join(folder.Resolved, strings.Join(rest, "/"))
	if root, _ := g.root(full); root == "" {
		for top := range topFolders {
			if op != Read && match(full, top, true) {
				u.worsen(Protected)
			}
		}
		for _, r := range g.Roots.Write {
			if op != Read && match(full, r, true) || within(r, folder.Resolved) && match(full, r, false) {
				u.worsen(Protected)
			}
		}
		if match(full, g.Roots.Home, false) {
			u.worsen(Home)
		}
	}
	for _, p := range g.candidates(folder.Resolved, rest) {
		at := place{path: p, op: op}
		u.worsen(g.class(&at))
	}
	return u.Class
}

// candidates are paths with special names that a pattern may stand for.
func (g Guard) candidates(folder string, rest []string) (out []string) {
	add := func(base string, t *tree, parts []string) {
		t.fit(strings.ToLower(strings.Join(parts, "/")), "", func(name string) { out = append(out, join(base, name)) })
	}
	add("/", absolute, strings.Split(join(folder, strings.Join(rest, "/"))[1:], "/"))
	for i, part := range rest {
		base := strings.Join(append([]string{strings.TrimSuffix(folder, "/")}, rest[:i]...), "/")
		for _, name := range spoken {
			if pattern(part) && said(part, name) && match(part, name, false) {
				out = append(out, strings.Join(append([]string{base, name}, rest[i+1:]...), "/"))
			}
		}
		if broad(part) {
			continue
		}
		add(base, anywhere, rest[i:])
		if i == len(rest)-1 {
			add(base, files, rest[i:])
		}
	}
	return out
}

// spoken are names that are special by more than a table, and those that stand for all
// others where a pattern leaves nothing out.
var spoken = append([]string{".git", "hooks", "config", ".env", ".bashrc"}, keyNames...)

// wild are the characters that make a part of a path a pattern.
const wild = "*?[("

// pattern says whether a part of a path is one.
func pattern(part string) bool { return strings.ContainsAny(part, wild) }

// said says whether a pattern says enough of a name to mean it: i* is not about id_rsa.
func said(part, name string) bool {
	n := strings.IndexAny(part, wild)
	return n < 0 || n > 1 || n > 0 && name[0] == '.'
}

// broad says whether a pattern leaves almost nothing out.
func broad(part string) bool {
	if strings.Contains(part, "(") {
		return true
	}
	for {
		i := strings.IndexByte(part, '[')
		if i < 0 {
			break
		}
		j := strings.IndexByte(part[i+1:], ']')
		if j < 0 {
			break
		}
		set := part[i+1 : i+1+j]
		if !strings.ContainsAny(set[:min(1, len(set))], "!^:") && !strings.Contains(set, "a-z") && !strings.Contains(set, "[:") {
			return false
		}
		part = part[:i] + part[i+j+2:]
	}
	return strings.Contains(part, "*") && strings.Trim(part, "*?.]") == ""
}

// negated writes the [!x] of shells as path.Match has it.
func negated(part string) string { return strings.ReplaceAll(part, "[!", "[^") }

// match says whether a pattern may stand for a path, or for a folder around it if above is set.
func match(pattern, p string, above bool) bool {
	n := strings.Count(pattern, "/")
	if above {
		for i := 0; i < len(p); i++ {
			if p[i] == '/' {
				if n--; n < 0 {
					p = p[:i]
					break
				}
			}
		}
	}
	ok, err := path.Match(negated(pattern), p)
	return ok || err != nil
}

// climb gives a pattern with its first part that may stand for .. in that place; nil:
// there is none.
func climb(rest []string) []string {
	for i, part := range rest {
		if !strings.HasPrefix(part, ".") || !pattern(part) {
			continue
		}
		if ok, err := path.Match(negated(part), ".."); ok || err != nil {
			up := append([]string{}, rest[:i]...)
			return append(append(up, ".."), rest[i+1:]...)
		}
	}
	return nil
}

// reduce takes . and .. out of a pattern; ups: how often it leaves its folder.
func reduce(rest []string) (out []string, ups int) {
	for _, part := range rest {
		switch {
		case part == "" || part == ".":
		case part != "..":
			out = append(out, part)
		case len(out) > 0:
			out = out[:len(out)-1]
		default:
			ups++
		}
	}
	return out, ups
}
