package paths

import (
	"path"
	"slices"
	"strings"
)

// wild are the characters that make a part of a path a pattern.
const wild = "*?[("

// pattern says whether a part of a path is one.
func pattern(part string) bool { return strings.ContainsAny(part, wild) }

// meansName says whether a pattern says enough of a name to mean it: i* is not about id_rsa.
func meansName(part, name string) bool {
	n := strings.IndexAny(part, wild)
	return n < 0 || n > 1 || n > 0 && name[0] == '.'
}

// broad says whether a pattern leaves almost nothing out.
func broad(part string) bool {
	if strings.Contains(part, "(") {
		return true
	}
	for {
		before, set, open := strings.Cut(part, "[")
		set, after, closed := strings.Cut(set, "]")
		if !open || !closed {
			break
		}
		if !strings.HasPrefix(set, "!") && !strings.HasPrefix(set, "^") && !strings.HasPrefix(set, "[:") &&
			!strings.Contains(set, "a-z") {
			return false
		}
		part = before + after
	}
	return strings.Contains(part, "*") && strings.Trim(part, "*?.]") == ""
}

// match says whether a pattern may stand for a path, or for a folder around it if above is set.
func match(pattern, p string, above bool) bool {
	for n, i := strings.Count(pattern, "/"), 0; above && i < len(p); i++ {
		if p[i] == '/' {
			n--
		}
		if n < 0 {
			p = p[:i]
		}
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), p) // the [!x] of shells
	return ok || err != nil
}

// climb gives a pattern with its first part that may stand for .. in that place; nil:
// there is none.
func climb(rest []string) []string {
	for i, part := range rest {
		if strings.HasPrefix(part, ".") && pattern(part) && match(part, "..", false) {
			return slices.Concat(rest[:i], []string{".."}, rest[i+1:])
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
