package paths

import (
	"path"
	"slices"
	"strings"
)

const patternChars = "*?[("

func isPattern(part string) bool { return strings.ContainsAny(part, patternChars) }

// meansName reports whether a pattern has enough of a name to mean it: i* does not mean id_rsa.
func meansName(part, name string) bool {
	n := strings.IndexAny(part, patternChars)
	return n < 0 || n > 1 || n > 0 && name[0] == '.'
}

// matchesMost reports whether a pattern matches almost everything.
func matchesMost(part string) bool {
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

// match reports whether a pattern may match a path or, with above, a folder around it.
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

// parentPattern returns a pattern with .. for its first part that may match it; nil: none.
func parentPattern(rest []string) []string {
	for i, part := range rest {
		if strings.HasPrefix(part, ".") && isPattern(part) && match(part, "..", false) {
			return slices.Concat(rest[:i], []string{".."}, rest[i+1:])
		}
	}
	return nil
}

// reduce removes . and .. from a pattern; ups is how often it leaves its folder.
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
