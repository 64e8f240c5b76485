package paths

import (
	"io/fs"
	"strings"
)

// maxLinks is how many links Linux follows in one path.
const maxLinks = 40

// place is what a path leads to.
type place struct {
	path       string // absolute, without . and .. and links
	Entry             // that stands there
	restricted bool   // some users may not read it, or enter a folder on the way
	op         Op
	tool       bool
	class      string
	marks      []string
}

// walk follows an absolute path part by part, as the kernel does: .. goes up from where a link has led. It
// follows the last part if last is set or the path ends in a slash. It returns false where the path leads in
// a circle, too far, or up from a place that only the process knows: /proc/self/cwd/..
func (g Guard) walk(p string, last bool, at *place) bool {
	cur, rest, hops := "/", p, 0
	missing := -1 // length of the path below which nothing exists
	for {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			break
		}
		name, more, _ := strings.Cut(rest, "/")
		slash := len(name) < len(rest)
		rest = more
		switch name {
		case ".":
			at.Entry = Entry{}
			continue
		case "..":
			if strings.HasPrefix(cur, "/proc/") || within(cur, "/dev/fd") {
				return false
			}
			cur, at.Entry = parent(cur), Entry{}
			if len(cur) <= missing {
				missing = -1
			}
			continue
		}
		next := along(p, cur, name)
		at.Entry = Entry{}
		if g.Links != nil && missing < 0 && !isOpaque(next) {
			found, err := g.Links.Look(next)
			switch {
			case isMissing(err):
				missing = len(cur)
			case err != nil:
				at.marks = []string{MarkUnseen}
			case found.Mode&fs.ModeSymlink != 0 && (last || slash):
				to, err := g.Links.Readlink(next)
				if hops++; err != nil || to == "" || hops > maxLinks {
					return false
				}
				if to[0] == '/' {
					cur = "/"
				}
				if slash {
					to += "/"
				}
				rest = to + rest
				continue
			default:
				at.Entry, at.restricted = found, at.restricted || found.restricted()
			}
		}
		if cur = next; len(cur) > maxPath {
			return false
		}
	}
	at.path = cur
	return true
}

// isOpaque reports whether links of a place are not followed: those of /proc and /dev lead to what the
// looking process has open.
func isOpaque(p string) bool {
	return strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/dev/")
}

func parent(p string) string {
	return p[:max(1, strings.LastIndexByte(p, '/'))]
}

func join(folder, name string) string {
	if folder == "/" {
		return "/" + name
	}
	return folder + "/" + name
}

// along is join during a walk along the path p. Without a detour the result is a prefix of p, and nothing is
// copied.
func along(p, folder, name string) string {
	if folder == "/" {
		folder = ""
	}
	end := len(folder) + len("/") + len(name)
	if len(p) >= end && p[len(folder)] == '/' && p[:len(folder)] == folder && p[len(folder)+1:end] == name {
		return p[:end]
	}
	return folder + "/" + name
}

// within reports whether a path is a folder or inside it.
func within(p, folder string) bool {
	if folder == "" || !strings.HasPrefix(p, folder) {
		return false
	}
	return len(p) == len(folder) || folder == "/" || p[len(folder)] == '/'
}

// depth is how many parts a clean absolute path has.
func depth(p string) int {
	if p == "/" || p == "" {
		return 0
	}
	return strings.Count(p, "/")
}
