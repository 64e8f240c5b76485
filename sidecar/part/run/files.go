package run

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

const (
	maxFile  = 10 << 20 // bytes of a file that is read or written
	maxLines = 2000     // lines of a file per call
	maxShown = 64 << 10 // bytes of a result
	maxNames = 1000     // names of a folder
)

var errFolder = errors.New("is a folder: list it with ls")

// readText reads a text file that the call may read.
func (w *toolCall) readText(path string) (string, error) {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return "", err
	}
	f, err := workspace.Open(use)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s %w", path, errFolder)
	}
	doc, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case len(doc) > maxFile:
		return "", fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	case isBinary(doc):
		return "", fmt.Errorf("%s is no text", path)
	}
	return string(doc), nil
}

func isBinary(doc []byte) bool {
	return bytes.IndexByte(doc[:min(len(doc), 8000)], 0) >= 0 || !utf8.Valid(doc)
}

// writeText writes a file that the call may write.
func (w *toolCall) writeText(path, text string) error {
	if len(text) > maxFile {
		return fmt.Errorf("%s would be longer than %d bytes", path, maxFile)
	}
	use, err := w.call.May(paths.Write, path)
	if err != nil {
		return err
	}
	return workspace.Replace(use, []byte(text))
}

func (w *toolCall) read() (string, error) {
	text, err := w.readText(w.in.Path)
	if err != nil {
		return "", err
	}
	lines := slices.Collect(strings.Lines(text))
	from := max(w.in.Offset-1, 0)
	if from > len(lines) || from > 0 && from == len(lines) {
		return "", fmt.Errorf("%s has only %d lines", w.in.Path, len(lines))
	}
	most := cmp.Or(max(w.in.Limit, 0), maxLines)
	end := from + min(most, len(lines)-from) // most may be the greatest number that there is
	to, size := from, 0
	for ; to < end && size+len(lines[to]) <= maxShown; to++ {
		size += len(lines[to])
	}
	out := strings.Join(lines[from:to], "")
	if to == from && to < end { // one line is longer than all that is given at once
		out, _ = clip(lines[to], maxShown)
		to++
		out += fmt.Sprintf("\n[line %d is cut at %d of %d bytes; sed -n %dp and tail -c +%d give the rest]",
			to, len(out), len(lines[from]), to, len(out)+1)
	}
	if to < len(lines) {
		out += fmt.Sprintf("\n[lines %d to %d of %d; go on with offset %d]", from+1, to, len(lines), to+1)
	}
	return out, nil
}

func (w *toolCall) write() (string, error) {
	if err := w.writeText(w.in.Path, w.in.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %s: %d bytes.", w.in.Path, len(w.in.Content)), nil
}

// edit is one replacement.
type edit struct{ OldText, NewText string }

func (w *toolCall) edit() (string, error) {
	edits := w.in.Edits
	if len(edits) == 0 {
		edits = []edit{{w.in.OldText, w.in.NewText}}
	}
	text, err := w.readText(w.in.Path)
	if err != nil {
		return "", err
	}
	for _, e := range edits {
		first, last := strings.Index(text, e.OldText), strings.LastIndex(text, e.OldText) // which may overlap
		switch {
		case e.OldText == "":
			return "", errors.New("oldText is empty; to write a whole file, use write")
		case e.OldText == e.NewText:
			return "", errors.New("oldText and newText are the same")
		case first < 0:
			return "", fmt.Errorf("oldText does not stand in %s; read it, and copy the text exactly",
				w.in.Path)
		case first != last:
			return "", fmt.Errorf("oldText stands in %s more than once; take more of what is around it",
				w.in.Path)
		}
		text = strings.Replace(text, e.OldText, e.NewText, 1)
	}
	if err := w.writeText(w.in.Path, text); err != nil {
		return "", err
	}
	return fmt.Sprintf("Changed %s.", w.in.Path), nil
}

func (w *toolCall) ls() (string, error) {
	path := cmp.Or(w.in.Path, ".")
	entries, err := w.list(path, maxNames+1)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxNames {
			b.WriteString("[there are more]\n")
			break
		}
		b.WriteString(e.Name())
		switch {
		case e.IsDir():
			b.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			b.WriteByte('@')
		}
		b.WriteByte('\n')
	}
	return cmp.Or(b.String(), "(the folder is empty)"), nil
}

// list returns the sorted names of a folder that the call may read.
func (w *toolCall) list(path string, most int) ([]fs.DirEntry, error) {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return nil, err
	}
	f, err := workspace.Open(use)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

const (
	maxVisited = 20000 // files and folders of one search
	maxFound   = 200   // lines or names of a result
	maxLine    = 500   // bytes of a line
)

// skippedFolders are not searched: they hold files of tools.
var skippedFolders = []string{".git", "node_modules", ".hg", ".svn"}

var errEnough = errors.New("enough was found")

// walk visits the files below a folder; below is their path relative to it. It follows no links and
// skips folders that the call may not read.
func (w *toolCall) walk(root string, visit func(name, below string) error) error {
	remaining := maxVisited
	var folder func(name, below string) error
	folder = func(name, below string) error {
		entries, err := w.list(name, remaining+1)
		if err != nil {
			if below == "" {
				return err
			}
			return nil
		}
		for _, e := range entries {
			if remaining--; remaining < 0 {
				return fmt.Errorf("there are more than %d files below %s; search in a folder of it",
					maxVisited, root)
			}
			if err := w.ctx.Err(); err != nil {
				return err
			}
			name, below := path.Join(name, e.Name()), path.Join(below, e.Name())
			switch {
			case e.IsDir() && !slices.Contains(skippedFolders, e.Name()):
				err = folder(name, below)
			case e.Type().IsRegular():
				err = visit(name, below)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return folder(root, "")
}

func (w *toolCall) grep() (string, error) {
	re, err := regexp.Compile(w.in.Pattern)
	if err != nil {
		return "", fmt.Errorf("pattern: %w", err)
	}
	if w.in.Glob != "" && !doublestar.ValidatePattern(w.in.Glob) {
		return "", fmt.Errorf("glob: %q is no pattern", w.in.Glob)
	}
	root, most := cmp.Or(w.in.Path, "."), cmp.Or(max(w.in.Limit, 0), maxFound)
	var out strings.Builder
	found := 0
	look := func(name, text string) error {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if line = strings.TrimRight(line, "\r\n"); !re.MatchString(line) {
				continue
			}
			if found == most || out.Len() > maxShown {
				return errEnough
			}
			found++
			short, cut := clip(line, maxLine)
			if cut {
				short += " …"
			}
			fmt.Fprintf(&out, "%s:%d: %s\n", name, n, short)
		}
		return nil
	}
	text, err := w.readText(root)
	switch {
	case errors.Is(err, errFolder):
		err = w.walk(root, func(name, below string) error {
			if !matches(w.in.Glob, below) {
				return nil
			}
			text, err := w.readText(name)
			if err != nil {
				return nil // no text, or not for this call
			}
			return look(name, text)
		})
	case err == nil && matches(w.in.Glob, path.Base(root)):
		err = look(root, text)
	}
	return w.searchResult(out.String(), err)
}

// matches reports whether a file matches a pattern, if there is one. A pattern without a slash is for
// the last part of the name.
func matches(pattern, below string) bool {
	if !strings.Contains(pattern, "/") {
		below = path.Base(below)
	}
	ok, err := doublestar.Match(pattern, below)
	return pattern == "" || ok && err == nil
}

func (w *toolCall) glob() (string, error) {
	pattern := path.Clean(w.in.Pattern)
	if !doublestar.ValidatePattern(pattern) {
		return "", fmt.Errorf("%q is no pattern", w.in.Pattern)
	}
	root, rest := doublestar.SplitPattern(pattern)
	if !path.IsAbs(root) {
		root = path.Join(cmp.Or(w.in.Path, "."), root)
	}
	var out strings.Builder
	found := 0
	err := w.walk(root, func(name, below string) error {
		if ok, err := doublestar.Match(rest, below); !ok || err != nil {
			return err
		}
		if found == maxFound {
			return errEnough
		}
		found++
		out.WriteString(name + "\n")
		return nil
	})
	return w.searchResult(out.String(), err)
}

func (w *toolCall) searchResult(text string, err error) (string, error) {
	switch {
	case errors.Is(err, errEnough):
		return text + "[there is more; narrow the search]\n", nil
	case err != nil && text == "":
		return "", err
	case err != nil:
		return text + "[" + errorText(err) + "]\n", nil
	}
	return cmp.Or(text, "(nothing found)"), nil
}
