package paths

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// How many files and folders are looked at for one path: by their names, and only for links.
const (
	maxBelow  = 4000
	maxLinked = 50000
)

// fetched are folders of what others have published: they hold no secrets. Git keeps its own copies of files
// by their sums.
var fetched = set("node_modules site-packages .git __pycache__")

// secretsBelow says whether who reads all of a folder reads secrets, or more than may be
// looked at.
func (g Guard) secretsBelow(folder string, left *int) bool {
	for folders := []string{folder}; len(folders) > 0; folders = folders[1:] {
		entries, ok := g.list(folders[0], left)
		if !ok {
			return true
		}
		for _, e := range entries {
			p := join(folders[0], e.Name())
			if g.telling(p, e) {
				return true
			}
			if root, _ := g.root(p); e.IsDir() && !fetched()[e.Name()] && (root == "" || g.hasHome(root)) {
				folders = append(folders, p)
			}
		}
	}
	return false
}

// hasHome says whether the home folder is a folder, or in it: /tmp where HOME is /tmp/agent.
func (g Guard) hasHome(folder string) bool { return g.Roots.Home != "" && within(g.Roots.Home, folder) }

// Follows marks a folder of the workspace if links in it lead where the agent may not look unasked, for a
// program that follows them, or if there is more than can be looked through.
func (g Guard) Follows(u *Use) {
	if g.Links == nil || u.Resolved == "" || u.Class != Workspace && u.Class != WorkspaceRoot {
		return
	}
	left, behind := maxLinked, maxBelow
	for folders := []string{u.Resolved}; len(folders) > 0; folders = folders[1:] {
		entries, ok := g.list(folders[0], &left)
		if !ok {
			u.mark(MarkBelow)
			return
		}
		for _, e := range entries {
			switch p := join(folders[0], e.Name()); {
			case e.IsDir() && !fetched()[e.Name()]:
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

// list gives what is in a folder, as long as some may be looked at. What is not there holds
// nothing.
func (g Guard) list(folder string, left *int) (entries []fs.DirEntry, ok bool) {
	if *left <= 0 {
		return nil, false
	}
	entries, err := g.Links.List(folder, *left)
	*left -= len(entries)
	return entries, *left > 0 && (err == nil || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, syscall.ENOTDIR))
}

// telling says whether an entry of a folder that may be read is a secret, or leads where the agent may not
// look.
func (g Guard) telling(p string, e fs.DirEntry) bool {
	home := g.home(p)
	if e.Type()&fs.ModeSymlink != 0 || home == "" {
		at := g.place(Read, p, false)
		return stricter(at.class, Kernel) || e.Type()&fs.ModeSymlink == 0 && at.class == Outside
	}
	at := place{path: p, op: Read, Entry: Entry{Mode: e.Type(), Names: 1}}
	root, write := g.root(p)
	class, _ := g.special(&at, root, write)
	return class == Secret || class == Control || root == "" && private(p[len(home):])
}

// expand calls for all that fits a pattern in a folder, as it is on the disk. Two stars
// stand for any folders, and then hidden names and either case fit, too: find may have
// written it. It is false where that is too much to look at.
func (g Guard) expand(folder string, rest []string, hidden bool, left *int, call func(p string)) bool {
	part, more := rest[0], rest[1:]
	switch {
	case !pattern(part) && len(more) == 0:
		call(join(folder, part))
		return true
	case !pattern(part):
		return g.expand(join(folder, part), more, hidden, left, call)
	case part == "**" && len(more) > 0:
		if hidden = true; !g.expand(folder, more, hidden, left, call) {
			return false
		}
		more = rest
	}
	entries, ok := g.list(folder, left)
	for _, e := range entries {
		switch fits := part == "**" || broad(part) || match(part, e.Name(), false) ||
			hidden && match(strings.ToLower(part), strings.ToLower(e.Name()), false); {
		case !ok:
		case !fits || !hidden && e.Name()[0] == '.' && part[0] != '.':
		case len(more) == 0:
			call(join(folder, e.Name()))
		case e.IsDir() && !(part == "**" && fetched()[e.Name()]), part != "**" &&
			e.Type()&fs.ModeSymlink != 0:
			ok = g.expand(join(folder, e.Name()), more, hidden, left, call)
		}
	}
	return ok
}

// onDisk is what a pattern stands for on the disk, if it may be read by its names.
func (g Guard) onDisk(u *Use, folder string, rest []string) {
	around := u.Class == Around
	if g.Links == nil || !around && u.Class != Workspace {
		return
	}
	left, below := maxBelow, maxBelow
	if !g.expand(folder, rest, false, &left, func(p string) {
		at := g.place(Read, p, false)
		switch {
		case !at.there():
		case at.class == Around && at.Mode.IsDir() && !fetched()[path.Base(p)] &&
			g.secretsBelow(at.path, &below):
			u.mark(MarkBelow)
		case around || stricter(at.class, VCS):
			u.worsen(at.class)
		}
	}) && around {
		u.mark(MarkBelow)
	}
}

// There reports whether something stands at a path. It is not seen where nothing is looked at.
func (g Guard) There(p string) (there, seen bool) {
	if g.Links == nil || !strings.HasPrefix(p, "/") {
		return false, false
	}
	e, err := g.Links.Look(p)
	return e.there(), err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Names are what is in a folder. They are not seen where nothing is looked at, where no
// folder is, or where there are too many.
func (g Guard) Names(folder string) (names []string, seen bool) {
	if g.Links == nil || folder == "" {
		return nil, false
	}
	entries, err := g.Links.List(folder, maxBelow)
	if err != nil || len(entries) >= maxBelow {
		return nil, false
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, true
}
