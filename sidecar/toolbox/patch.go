package toolbox

import (
	"errors"
	"fmt"
	"strings"
)

// change is what a patch does to one file.
type change struct {
	path, to string   // to: its new name; empty: the same
	add      []string // the lines of a new file; nil: it is none
	remove   bool
	hunks    []hunk
	line     int // of the patch, from 1
}

// hunk is lines that stand in the file, and those that shall stand there.
type hunk struct {
	under    string // a line that stands above; empty: anywhere
	old, new []string
	end      bool // it stands at the end of the file
	line     int
}

// parsePatch reads a patch in the form of apply_patch. The error names the line.
func parsePatch(text string) (list []change, err error) {
	bad := func(n int, format string, a ...any) ([]change, error) {
		return nil, fmt.Errorf("patch:%d: %s", n, fmt.Sprintf(format, a...))
	}
	var now *change
	begun, ended := false, false
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		n, line := i+1, strings.TrimSuffix(line, "\r")
		name, mark := marked(line)
		switch {
		case ended && strings.TrimSpace(line) != "":
			return bad(n, "something follows *** End Patch")
		case !begun && strings.TrimSpace(line) == "*** Begin Patch":
			begun = true
		case !begun && strings.TrimSpace(line) != "":
			return bad(n, "a patch begins with *** Begin Patch")
		case !begun:
		case strings.TrimSpace(line) == "*** End Patch":
			ended = true
		case mark == "Add File" || mark == "Delete File" || mark == "Update File":
			if name == "" {
				return bad(n, "the name of the file is missing")
			}
			list = append(list, change{path: name, remove: mark == "Delete File", line: n})
			now = &list[len(list)-1]
			if mark == "Add File" {
				now.add = []string{}
			}
		case now == nil:
			return bad(n, "this line belongs to no file; write *** Update File: NAME before it")
		case mark == "Move to":
			if now.add != nil || now.remove || name == "" {
				return bad(n, "*** Move to: NAME goes with *** Update File")
			}
			now.to = name
		case now.remove && line != "":
			return bad(n, "a file that is deleted has no lines")
		case now.remove:
		case now.add != nil:
			if !strings.HasPrefix(line, "+") {
				return bad(n, "each line of a new file begins with +")
			}
			now.add = append(now.add, line[1:])
		default:
			if why := now.hunk(line, n); why != "" {
				return bad(n, "%s", why)
			}
		}
	}
	switch {
	case !begun:
		return bad(1, "a patch begins with *** Begin Patch")
	case !ended:
		return nil, errors.New("patch: it does not end with *** End Patch; it may have been cut")
	case len(list) == 0:
		return nil, errors.New("patch: it changes no file")
	}
	return list, nil
}

// marked takes a line such as "*** Add File: a.txt" apart.
func marked(line string) (name, mark string) {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return "", ""
	}
	mark, name, ok = strings.Cut(rest, ":")
	if !ok {
		return "", ""
	}
	return strings.TrimSpace(name), mark
}

// hunk takes a line of a file that is updated. It says what is wrong with it, or nothing.
func (c *change) hunk(line string, n int) string {
	if under, ok := strings.CutPrefix(line, "@@"); ok {
		c.hunks = append(c.hunks, hunk{under: strings.TrimSpace(under), line: n})
		return ""
	}
	if len(c.hunks) == 0 {
		c.hunks = append(c.hunks, hunk{line: n})
	}
	h := &c.hunks[len(c.hunks)-1]
	switch {
	case line == "*** End of File":
		h.end = true
	case line == "":
		h.old, h.new = append(h.old, ""), append(h.new, "")
	case line[0] == ' ':
		h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
	case line[0] == '-':
		h.old = append(h.old, line[1:])
	case line[0] == '+':
		h.new = append(h.new, line[1:])
	default:
		return "a line of a hunk begins with a blank, - or +"
	}
	return ""
}

// apply gives the text of a file after the hunks. Each stands behind the one before it.
func (c *change) apply(text string) (string, error) {
	trailing := strings.HasSuffix(text, "\n") || text == ""
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	from := 0
	for _, h := range c.hunks {
		if len(h.old) == 0 && len(h.new) == 0 {
			continue
		}
		if h.under != "" {
			at := find(lines, []string{h.under}, from, false)
			if at < 0 {
				return "", fmt.Errorf("patch:%d: %s has no line %q behind the hunk before", h.line, c.path, h.under)
			}
			from = at + 1
		}
		at := len(lines)
		if len(h.old) > 0 {
			at = find(lines, h.old, from, h.end)
		} else if h.under != "" {
			at = from
		}
		if at < 0 {
			return "", fmt.Errorf("patch:%d: these lines do not stand in %s; read it, and copy them exactly", h.line, c.path)
		}
		lines = append(lines[:at:at], append(h.new, lines[at+len(h.old):]...)...)
		from = at + len(h.new)
	}
	out := strings.Join(lines, "\n")
	if trailing && out != "" {
		out += "\n"
	}
	return out, nil
}

// find gives where lines stand in a file, from a line on: exactly, else but for white space at
// their ends; -1: nowhere. With end they must be the last.
func find(lines, want []string, from int, end bool) int {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r") },
	} {
		for at := from; at+len(want) <= len(lines); at++ {
			if end && at+len(want) != len(lines) {
				continue
			}
			fits := true
			for i := range want {
				if !same(lines[at+i], want[i]) {
					fits = false
					break
				}
			}
			if fits {
				return at
			}
		}
	}
	return -1
}
