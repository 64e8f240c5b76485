package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// change is what a patch does to one file.
type change struct {
	path, to string   // to is the new name; empty: unchanged
	add      []string // lines of a new file; nil: not a new file
	remove   bool
	hunks    []hunk
	line     int // in the patch, from 1
}

// hunk replaces lines of a file.
type hunk struct {
	anchor string   // a line above the hunk; empty: anywhere
	lines  []string // each after ' ' (kept), '-' or '+'
	end    bool     // the hunk is at the end of the file
	line   int
}

// old returns the lines that are in the file.
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
		name, mark := parseMarker(line)
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
			if why := now.addLine(line, n); why != "" {
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

// parseMarker splits a line such as "*** Add File: a.txt".
func parseMarker(line string) (name, mark string) {
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

// addLine adds a line of an updated file. It returns what is wrong with it, or "".
func (c *change) addLine(line string, n int) string {
	if under, ok := strings.CutPrefix(line, "@@"); ok {
		c.hunks = append(c.hunks, hunk{anchor: strings.TrimSpace(under), line: n})
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

// apply returns the text of a file after the hunks, each of which follows the one before it. Kept
// lines are those of the file, white space included; new ones end as its first line does.
func (c *change) apply(ctx context.Context, text string) (string, error) {
	lines, end := slices.Collect(strings.Lines(text)), "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	var out []string
	from := 0 // the first line that is not in out yet
	keep := func(to int) { out, from = append(out, lines[from:to]...), to }
	for _, h := range c.hunks {
		if h.anchor != "" {
			at, err := findLines(ctx, lines, []string{h.anchor}, from, false, strings.TrimSpace)
			if err != nil {
				return "", err
			} else if at < 0 {
				return "", fmt.Errorf("patch:%d: %s has no line %q behind the hunk before", h.line, c.path,
					h.anchor)
			}
			keep(at + 1)
		}
		if len(h.lines) == 0 {
			continue
		}
		at, old := len(lines), h.old()
		if len(old) > 0 {
			var err error
			if at, err = findLines(ctx, lines, old, from, h.end, trimEnd, trimRight); err != nil {
				return "", err
			}
		} else if h.anchor != "" && !h.end {
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
	return joinLines(out, end, text == "" || strings.HasSuffix(text, "\n")), nil
}

// joinLines joins lines. Those without an end get one, the last one only if asked.
func joinLines(lines []string, end string, last bool) string {
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") && (last || i < len(lines)-1) {
			b.WriteString(end)
		}
	}
	return b.String()
}

// trimEnd returns a line without its end.
func trimEnd(line string) string { return strings.TrimRight(line, "\r\n") }

// trimRight returns a line without its end and the white space before it.
func trimRight(line string) string { return strings.TrimRight(line, " \t\r\n") }

// findLines returns the index of wanted lines in a file, at or after from; -1: not there. It compares
// lines normalized in the first way that finds them. With end they must be the last lines.
func findLines(ctx context.Context, lines, want []string, from int, end bool,
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

// applyPatch makes all new texts before it writes: a patch that does not fit changes nothing. If a
// file cannot be written, the error says what was done before.
func (w *toolCall) applyPatch() (string, error) {
	list, err := parsePatch(w.in.Input)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(list))
	seen := map[string]bool{}
	for i := range list {
		c := &list[i]
		for _, name := range c.names() {
			key := w.resolved(name)
			if seen[key] {
				return "", fmt.Errorf("patch:%d: %s stands in the patch twice", c.line, name)
			}
			seen[key] = true
		}
		if texts[i], err = w.prepare(c); err != nil {
			return "", err
		}
	}
	var done []string
	for i := range list {
		did, err := w.applyChange(&list[i], texts[i])
		if err != nil {
			return "", fmt.Errorf("%w; done before it: %s", err, strings.Join(append(done, "nothing else"),
				", "))
		}
		done = append(done, did)
	}
	return strings.Join(done, "\n"), nil
}

// prepare checks that a change can be made and returns the new text of the file.
func (w *toolCall) prepare(c *change) (text string, err error) {
	if c.moves() {
		err = w.mustNotExist(c.to)
	}
	switch {
	case err != nil:
	case c.remove:
		err = w.mustBeFile(c.path)
	case c.add != nil:
		text, err = joinLines(c.add, "\n", true), w.mustNotExist(c.path)
	default:
		if text, err = w.readText(c.path); err != nil {
			return "", err
		}
		return c.apply(w.ctx, text)
	}
	if err != nil {
		return "", fmt.Errorf("patch:%d: %w", c.line, err)
	}
	return text, nil
}

func (c *change) moves() bool {
	return c.to != "" && filepath.Clean(c.to) != filepath.Clean(c.path)
}

// names returns the files that a change touches.
func (c *change) names() []string {
	if c.moves() {
		return []string{c.path, c.to}
	}
	return []string{c.path}
}

// resolved returns the file that a name leads to.
func (w *toolCall) resolved(name string) string {
	if use, err := w.call.May(paths.Read, name); err == nil && use.Resolved != "" {
		return use.Resolved
	}
	return filepath.Clean(name)
}

// mustNotExist returns an error if a file exists, or if that is unknown: binary files would be lost as
// well.
func (w *toolCall) mustNotExist(path string) error {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return err
	}
	f, err := workspace.Open(use)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	return fmt.Errorf("%s is there already; use *** Update File", path)
}

// mustBeFile returns an error if there is no file that may be deleted.
func (w *toolCall) mustBeFile(path string) error {
	use, err := w.call.May(paths.Delete, path)
	if err != nil {
		return err
	}
	switch there, err := (workspace.Links{}).Look(use.Resolved); {
	case err != nil:
		return fmt.Errorf("delete %s: %w", path, err)
	case there.Mode.IsDir():
		return fmt.Errorf("%s is a folder: remove it with exec", path)
	}
	return nil
}

// applyChange does to a file what the patch says and returns that in words.
func (w *toolCall) applyChange(c *change, text string) (string, error) {
	switch {
	case c.remove:
		return "deleted " + c.path, w.remove(c.path)
	case c.moves():
		if err := w.writeText(c.to, text); err != nil {
			return "", err
		}
		return "changed " + c.path + ", which is now " + c.to, w.remove(c.path)
	case c.add != nil:
		return "added " + c.path, w.writeText(c.path, text)
	}
	return "changed " + c.path, w.writeText(c.path, text)
}

func (w *toolCall) remove(path string) error {
	use, err := w.call.May(paths.Delete, path)
	if err != nil {
		return err
	}
	return workspace.Remove(use)
}
