package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	under string   // a line that stands above; empty: anywhere
	lines []string // behind a blank, if they stay, behind - or behind +
	end   bool     // it stands at the end of the file
	line  int
}

// old are the lines that stand in the file.
func (h *hunk) old() (out []string) {
	for _, line := range h.lines {
		if line[0] != '+' {
			out = append(out, line[1:])
		}
	}
	return out
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
		h.lines = append(h.lines, " ")
	case strings.ContainsRune(" -+", rune(line[0])):
		h.lines = append(h.lines, line)
	default:
		return "a line of a hunk begins with a blank, - or +"
	}
	return ""
}

// apply gives the text of a file after the hunks. Each stands behind the one before it. Lines that
// stay are those of the file, white space and all, and new ones end as its first line does.
func (c *change) apply(ctx context.Context, text string) (string, error) {
	lines, end := slices.Collect(strings.Lines(text)), "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	var out []string
	from := 0 // the first line that is not in out yet
	keep := func(to int) { out, from = append(out, lines[from:to]...), to }
	for _, h := range c.hunks {
		if h.under != "" {
			at, err := find(ctx, lines, []string{h.under}, from, false, strings.TrimSpace)
			if err != nil {
				return "", err
			} else if at < 0 {
				return "", fmt.Errorf("patch:%d: %s has no line %q behind the hunk before", h.line, c.path,
					h.under)
			}
			keep(at + 1)
		}
		if len(h.lines) == 0 {
			continue
		}
		at, old := len(lines), h.old()
		if len(old) > 0 {
			var err error
			if at, err = find(ctx, lines, old, from, h.end, unended, unfilled); err != nil {
				return "", err
			}
		} else if h.under != "" && !h.end {
			at = from
		}
		if at < 0 {
			return "", fmt.Errorf("patch:%d: these lines do not stand in %s; read it, and copy them exactly",
				h.line, c.path)
		}
		keep(at)
		for _, line := range h.lines {
			switch line[0] {
			case ' ':
				keep(from + 1)
			case '-':
				from++
			case '+':
				out = append(out, line[1:])
			}
		}
	}
	keep(len(lines))
	return joined(out, end, text == "" || strings.HasSuffix(text, "\n")), nil
}

// joined is the text of lines. Those without an end get one, but the last only if it shall.
func joined(lines []string, end string, last bool) string {
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") && (last || i < len(lines)-1) {
			b.WriteString(end)
		}
	}
	return b.String()
}

// unended is a line without its end, and unfilled without the white space before it, too.
func unended(line string) string  { return strings.TrimRight(line, "\r\n") }
func unfilled(line string) string { return strings.TrimRight(line, " \t\r\n") }

// find gives where lines stand in a file, from a line on, in the first of the ways to look at a line in
// which they do; -1: nowhere. With end they must be the last.
func find(ctx context.Context, lines, want []string, from int, end bool,
	ways ...func(string) string) (int, error) {
	if end {
		from = max(from, len(lines)-len(want))
	}
	for _, seen := range ways {
		for at := from; at+len(want) <= len(lines); at++ {
			if at%1024 == 0 && ctx.Err() != nil {
				return 0, ctx.Err()
			}
			n := 0
			for n < len(want) && seen(lines[at+n]) == seen(want[n]) {
				n++
			}
			if n == len(want) {
				return at, nil
			}
		}
	}
	return -1, nil
}
