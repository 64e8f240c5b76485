package paths

import (
	"io/fs"
	"path"
	"strings"
)

// How many files and folders are examined for one path: by their names, and only for links.
const (
	maxBelow  = 4000
	maxLinked = 50000
)

// published are folders of published code.
var published = lists.Set("published")

// secretsBelow reports whether reading all of a folder reads secrets, or more than can be examined.
func (g Guard) secretsBelow(folder string, remaining *int) bool {
	for folders := []string{folder}; len(folders) > 0; folders = folders[1:] {
		entries, ok := g.list(folders[0], remaining)
		if !ok {
			return true
		}
		for _, e := range entries {
			p := join(folders[0], e.Name())
			if g.isPrivateEntry(p, e) {
				return true
			}
			if root, _ := g.root(p); e.IsDir() && !published()[e.Name()] && (root == "" || g.hasHome(root)) {
				folders = append(folders, p)
			}
		}
	}
	return false
}

// hasHome reports whether a folder is or holds the home folder: /tmp where HOME is /tmp/agent.
func (g Guard) hasHome(folder string) bool { return g.Roots.Home != "" && within(g.Roots.Home, folder) }

// Follows marks a folder of the workspace, for a program that follows links, if links in it lead where the
// agent may not look without a question, or if there is too much to examine.
func (g Guard) Follows(u *Use) {
	if g.Links == nil || u.Resolved == "" || !InWorkspace(u.Class) {
		return
	}
	remaining, behind := maxLinked, maxBelow
	for folders := []string{u.Resolved}; len(folders) > 0; folders = folders[1:] {
		entries, ok := g.list(folders[0], &remaining)
		if !ok {
			u.mark(MarkBelow)
			return
		}
		for _, e := range entries {
			switch p := join(folders[0], e.Name()); {
			case e.IsDir() && !published()[e.Name()]:
				folders = append(folders, p)
			case e.Type()&fs.ModeSymlink != 0:
				at := g.place(Read, p, false)
				if stricter(at.class, VCS) || at.class == Around && at.Mode.IsDir() &&
					g.secretsBelow(at.path, &behind) {
					u.mark(MarkBelow)
					return
				}
			}
		}
	}
}

// list returns the entries of a folder and takes them from left. ok is false once nothing is left. A missing
// folder is empty.
func (g Guard) list(folder string, remaining *int) (entries []fs.DirEntry, ok bool) {
	if *remaining <= 0 {
		return nil, false
	}
	entries, err := g.Links.List(folder, *remaining)
	*remaining -= len(entries)
	return entries, *remaining > 0 && (err == nil || isMissing(err))
}

// isPrivateEntry reports whether an entry of a readable folder is a secret, or leads where the agent may not
// look.
func (g Guard) isPrivateEntry(p string, e fs.DirEntry) bool {
	home := g.home(p)
	if e.Type()&fs.ModeSymlink != 0 || home == "" {
		at := g.place(Read, p, false)
		return stricter(at.class, Kernel) || e.Type()&fs.ModeSymlink == 0 && at.class == Outside
	}
	class, root := g.entryClass(p, e)
	return class == Secret || class == Control || root == "" && private(p[len(home):])
}

// entryClass returns the class of an entry by its names, and the root around it.
func (g Guard) entryClass(p string, e fs.DirEntry) (class, root string) {
	at := place{path: p, op: Read, Entry: Entry{Mode: e.Type(), Names: 1}}
	root, write := g.root(p)
	class, _ = g.special(&at, root, write)
	return class, root
}

// expandPattern calls for each path on the disk that a pattern in a folder matches. ** stands for any
// folders, and then hidden names and either case match too, since find may have written it. It returns false
// if there is too much to examine.
func (g Guard) expandPattern(folder string, rest []string, hidden bool, remaining *int,
	call func(p string)) bool {
	part, more := rest[0], rest[1:]
	switch {
	case !isPattern(part) && len(more) == 0:
		call(join(folder, part))
		return true
	case !isPattern(part):
		return g.expandPattern(join(folder, part), more, hidden, remaining, call)
	case part == "**" && len(more) > 0:
		if hidden = true; !g.expandPattern(folder, more, hidden, remaining, call) {
			return false
		}
		more = rest
	}
	entries, ok := g.list(folder, remaining)
	for _, e := range entries {
		switch fits := part == "**" || matchesMost(part) || match(part, e.Name(), false) ||
			hidden && match(strings.ToLower(part), strings.ToLower(e.Name()), false); {
		case !ok:
		case !fits || !hidden && e.Name()[0] == '.' && part[0] != '.':
		case len(more) == 0:
			call(join(folder, e.Name()))
		case e.IsDir() && !(part == "**" && published()[e.Name()]), part != "**" &&
			e.Type()&fs.ModeSymlink != 0:
			ok = g.expandPattern(join(folder, e.Name()), more, hidden, remaining, call)
		}
	}
	return ok
}

// onDisk classifies what a pattern stands for on the disk, if its names may be read.
func (g Guard) onDisk(u *Use, folder string, rest []string) {
	around := u.Class == Around
	if g.Links == nil || !around && u.Class != Workspace {
		return
	}
	remaining, below := maxBelow, maxBelow
	if !g.expandPattern(folder, rest, false, &remaining, func(p string) {
		at := g.place(Read, p, false)
		switch {
		case !at.there():
		case at.class == Around && at.Mode.IsDir() && !published()[path.Base(p)] &&
			g.secretsBelow(at.path, &below):
			u.mark(MarkBelow)
		case around || stricter(at.class, VCS):
			u.worsen(at.class)
		}
	}) && around {
		u.mark(MarkBelow)
	}
}
