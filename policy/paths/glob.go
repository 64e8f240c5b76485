package paths

import (
	"path"
	"strings"
)

// maxPattern is how many parts a pattern may have.
const maxPattern = 32

// glob classifies a word that the shell replaces by matching files: by the folder before the pattern, by the
// literal names in it, and by the special places that match.
func (g Guard) glob(u *Use, op Op, text, cwd string) {
	parts := strings.Split(text, "/")
	first := 0
	for first < len(parts) && !isPattern(parts[first]) {
		first++
	}
	if first == len(parts) {
		g.classify(u, op, text, cwd, false)
		return
	}
	if len(parts)-first > maxPattern {
		u.Class = Malformed
		return
	}
	fixed := strings.Join(parts[:first], "/") + "/"
	if first == 0 {
		fixed = "./"
	}
	rest := parts[first:]
	if up := parentPattern(rest); up != nil {
		g.classifyMore(u, op, fixed+strings.Join(up, "/"), cwd)
	}
	rest, ups := reduce(rest)
	fixed += strings.Repeat("../", ups)
	if len(rest) == 0 {
		g.classifyMore(u, op, fixed, cwd)
		return
	}
	g.classifyMore(u, op, fixed+strings.Join(rest, "/"), cwd)
	var folder Use
	g.classify(&folder, op, fixed, cwd, false)
	if folder.Resolved != "" {
		u.worsen(g.patternClass(op, folder, rest))
		if op == Read {
			g.onDisk(u, folder.Resolved, rest)
		}
	}
}

// classifyMore classifies another path that a use may mean, and keeps the worse class.
func (g Guard) classifyMore(u *Use, op Op, p, cwd string) {
	var other Use
	g.classify(&other, op, p, cwd, false)
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

// patternClass returns the class of a pattern in a folder by what may match it; empty: nothing special.
func (g Guard) patternClass(op Op, folder Use, rest []string) (class string) {
	var u Use
	everything := len(rest) == 1 && matchesMost(rest[0])
	if everything || op == Read && rest[0] == "**" {
		u.worsen(contentClass(op, folder.Class))
	}
	full := join(folder.Resolved, strings.Join(rest, "/"))
	switch root, _ := g.root(full); {
	case root == "":
		u.worsen(g.topClass(op, folder.Resolved, full))
	case op != Read && !everything:
		for _, o := range g.Roots.Own {
			if within(o, folder.Resolved) && match(full, o, true) {
				u.worsen(Control)
			}
		}
	}
	parts := strings.Split(full, "/")
	for _, s := range g.Roots.Secret {
		if n := depth(s) + 1; within(s, folder.Resolved) && n <= len(parts) &&
			match(strings.Join(parts[:n], "/"), s, false) {
			u.worsen(Secret)
		}
	}
	for _, p := range g.candidates(folder.Resolved, rest) {
		u.worsen(g.class(&place{path: p, op: op}))
	}
	return u.Class
}

// contentClass returns the class of everything in a folder, by that of the folder; empty: nothing special.
func contentClass(op Op, folder string) string {
	switch {
	case folder == Root:
		return Protected
	case op == Read && (folder == Home || folder == Protected):
		return Outside
	case op == Delete && folder == WorkspaceRoot, op != Read && (folder == Home || folder == Protected):
		return folder
	}
	return ""
}

// topClass returns the class of a pattern outside the roots that may match a top folder of the system, a root
// or the home folder.
func (g Guard) topClass(op Op, folder, full string) string {
	for top := range topFolders() {
		if op != Read && match(full, top, true) {
			return Protected
		}
	}
	for _, r := range g.Roots.Write {
		if op != Read && match(full, r, true) || within(r, folder) && match(full, r, false) {
			return Protected
		}
	}
	if match(full, g.Roots.Home, false) {
		return Home
	}
	return ""
}

// candidates returns paths with special names that a pattern may match.
func (g Guard) candidates(folder string, rest []string) (out []string) {
	add := func(base string, t *tree, parts []string) {
		t.fit(strings.ToLower(strings.Join(parts, "/")), "", func(name string) {
			// What holds the folder is no fit: *.go in /root/work is not about /root.
			if p := join(base, name); !within(folder, p) {
				out = append(out, p)
			}
		})
	}
	whole := strings.Split(join(folder, strings.Join(rest, "/"))[1:], "/")
	add("/", absolute(), whole)
	add("/", confidential(), whole)
	for i, part := range rest {
		if part == "**" && i == len(rest)-2 {
			out = append(out, gitPaths(folder, rest[i+1])...)
		}
		base := strings.Join(append([]string{strings.TrimSuffix(folder, "/")}, rest[:i]...), "/")
		for _, name := range lists.List("extra") {
			if isPattern(part) && meansName(part, name) && match(part, name, false) {
				out = append(out, strings.Join(append([]string{base, name}, rest[i+1:]...), "/"))
			}
		}
		if matchesMost(part) {
			continue
		}
		add(base, anywhere(), rest[i:])
		if i == len(rest)-1 {
			add(base, files(), rest[i:])
		}
	}
	return out
}

// gitPaths returns files of git that a name in any folder may mean. A pattern such as *.lock means others.
func gitPaths(folder, name string) (out []string) {
	for _, p := range lists.List("git") {
		if strings.EqualFold(path.Base(p), name) {
			out = append(out, folder+"/.git/"+p)
		}
	}
	return out
}
